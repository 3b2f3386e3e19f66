/* See counting.hpp. */
#include "counting.hpp"

#include <cstdio>
#include <cstdlib>
#include <map>
#include <tuple>
#include <utility>

namespace bareline
{

namespace
{

/* Of group, sender and receiver: messages and bytes. */
std::map<std::tuple<long, int, int>, std::pair<long, long>> counted;

int number_of(const char *host)
{
    return std::atoi(host + 1); /* n0, n1 ... */
}

} /* namespace */

void count_message(const Settings &settings, double now_s, const char *from, const char *to,
                   double size_bytes)
{
    const long group = static_cast<long>(now_s / settings.counts_every_s);
    auto &[messages, bytes] = counted[{group, number_of(from), number_of(to)}];
    messages++;
    bytes += static_cast<long>(size_bytes);
}

void write_counts(const Settings &settings)
{
    /* A new file: nothing is written through a link or into a pipe. */
    std::FILE *file = std::fopen(settings.counts.c_str(), "wxe");
    if (file == nullptr) {
        std::perror(settings.counts.c_str());
        std::exit(1);
    }
    for (const auto &[at, sums] : counted)
        std::fprintf(file, "%ld %d %d %ld %ld\n", std::get<0>(at), std::get<1>(at), std::get<2>(at),
                     sums.first, sums.second);
    std::fclose(file);
}

} /* namespace bareline */
