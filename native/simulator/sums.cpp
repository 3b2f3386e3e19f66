/* Reductions whose result all ranks get, whole or in parts. */
#include "algorithms.hpp"
#include "choices.hpp"
#include "messages.hpp"

#include <algorithm>
#include <numeric>

namespace bareline
{

using simgrid::smpi::Request;

namespace
{

/* The ranks beyond a power of two: among the first 2 * `extra` every second one stands aside. */
struct PowerOfTwo {
    explicit PowerOfTwo(int ranks)
    {
        while (2 * size <= ranks)
            size *= 2;
        extra = ranks - size;
    }
    /* The rank behind a number, where the even one (or the odd one) of two takes part. */
    int rank_of(int number, bool even) const
    {
        return number < extra ? 2 * number + !even : number + extra;
    }
    int size = 1, extra = 0;
};

void exchange(const void *out, int out_count, void *in, int in_count, const Elements &elements,
              int with, MPI_Comm comm)
{
    Request::sendrecv(out, out_count, elements.type, with, tag, in, in_count, elements.type, with,
                      tag, comm, MPI_STATUS_IGNORE);
}

/* A part of a vector. */
struct Window {
    int begin, count;
};

/* Of two ranks that stand side by side the even one sums the left half and the odd one the right
 * half, which it gives the even one. Returns whether this rank goes on. */
bool fold_pair(const Team &team, const Elements &elements, char *sum, int count, MPI_Op op)
{
    const int left = count / 2, right = count - left;
    auto arrived = elements.room(count);
    const bool is_odd = team.rank % 2 == 1;
    const int with = is_odd ? team.rank - 1 : team.rank + 1;
    char *const right_half = elements.at(sum, left);
    if (is_odd) {
        exchange(sum, left, arrived.data(), right, elements, with, team.comm);
        elements.add(arrived.data(), right_half, right, op);
        Request::send(right_half, right, elements.type, with, tag, team.comm);
        return false;
    }
    exchange(right_half, right, arrived.data(), left, elements, with, team.comm);
    elements.add(arrived.data(), sum, left, op);
    Request::recv(right_half, right, elements.type, with, tag, team.comm, MPI_STATUS_IGNORE);
    return true;
}

/* Halves the window with each step; returns the windows as they were before each. */
std::vector<Window> sum_windows(const Team &team, const Elements &elements, char *sum, int count,
                                MPI_Op op, const PowerOfTwo &power, int number)
{
    std::vector<Window> windows;
    Window window = {0, count};
    auto arrived = elements.room(count);
    for (int bit = 1; bit < power.size; bit *= 2) {
        const int with = power.rank_of(number ^ bit, true);
        const Window left = {window.begin, window.count / 2};
        const Window right = {window.begin + left.count, window.count - left.count};
        const bool keeps_left = team.rank < with;
        const Window kept = keeps_left ? left : right, given = keeps_left ? right : left;
        exchange(elements.at(sum, given.begin), given.count, arrived.data(), kept.count, elements,
                 with, team.comm);
        elements.add(arrived.data(), elements.at(sum, kept.begin), kept.count, op);
        windows.push_back(window);
        window = kept;
    }
    windows.push_back(window);
    return windows;
}

/* Where the blocks of each rank that takes part begin; the last one is the end. */
std::vector<int> block_starts(const int *counts, const PowerOfTwo &power)
{
    std::vector<int> starts = {0};
    int rank = 0;
    for (int number = 0; number < power.size; number++) {
        int sum = counts[rank++];
        if (number < power.extra)
            sum += counts[rank++];
        starts.push_back(starts.back() + sum);
    }
    return starts;
}

} /* namespace */

int sum_around(const void *terms, void *result, int count, MPI_Datatype type, MPI_Op op,
               MPI_Comm comm)
{
    const Team team(comm);
    const Elements elements(type);
    if (terms != MPI_IN_PLACE)
        elements.copy(terms, result, count);
    std::vector<int> starts = {0};
    for (int i = 0; i < team.ranks; i++)
        starts.push_back(starts.back() + count / team.ranks + (i < count % team.ranks));
    const auto part = [&](int i) { return (i % team.ranks + team.ranks) % team.ranks; };
    const auto length = [&](int i) { return starts[i + 1] - starts[i]; };
    auto arrived = elements.room(count / team.ranks + 1);
    for (int step = 0; step < team.ranks - 1; step++) {
        const int given = part(team.rank - step), taken = part(team.rank - step - 1);
        MPI_Request request =
            Request::irecv(arrived.data(), length(taken), type, team.after(-1), tag, comm);
        Request::send(elements.at(result, starts[given]), length(given), type, team.after(1), tag,
                      comm);
        Request::wait(&request, MPI_STATUS_IGNORE);
        elements.add(arrived.data(), elements.at(result, starts[taken]), length(taken), op);
    }
    for (int step = 0; step < team.ranks - 1; step++) {
        const int given = part(team.rank + 1 - step), taken = part(team.rank - step);
        Request::sendrecv(elements.at(result, starts[given]), length(given), type, team.after(1),
                          tag, elements.at(result, starts[taken]), length(taken), type,
                          team.after(-1), tag, comm, MPI_STATUS_IGNORE);
    }
    return MPI_SUCCESS;
}

int sum_by_halves(const void *terms, void *result, int count, MPI_Datatype type, MPI_Op op,
                  MPI_Comm comm)
{
    const Team team(comm);
    const Elements elements(type);
    const PowerOfTwo power(team.ranks);
    char *const sum = static_cast<char *>(result);
    if (terms != MPI_IN_PLACE)
        elements.copy(terms, result, count);
    const bool is_paired = team.rank < 2 * power.extra;
    if (is_paired && !fold_pair(team, elements, sum, count, op)) {
        Request::recv(sum, count, type, team.rank - 1, tag, comm, MPI_STATUS_IGNORE);
        return MPI_SUCCESS;
    }
    const int number = is_paired ? team.rank / 2 : team.rank - power.extra;
    const auto windows = sum_windows(team, elements, sum, count, op, power, number);
    int step = static_cast<int>(windows.size()) - 2;
    for (int bit = power.size / 2; bit > 0; bit /= 2, step--) {
        const int with = power.rank_of(number ^ bit, true);
        const Window mine = windows[step + 1], both = windows[step];
        const bool is_left = mine.begin == both.begin && team.rank < with;
        const int other = is_left ? mine.begin + mine.count : both.begin;
        exchange(elements.at(sum, mine.begin), mine.count, elements.at(sum, other),
                 both.count - mine.count, elements, with, comm);
    }
    if (is_paired)
        Request::send(sum, count, type, team.rank + 1, tag, comm);
    return MPI_SUCCESS;
}

int sum_to_parts(const void *terms, void *result, const int *counts, MPI_Datatype type, MPI_Op op,
                 MPI_Comm comm)
{
    const Team team(comm);
    const Elements elements(type);
    const PowerOfTwo power(team.ranks);
    const int count = std::accumulate(counts, counts + team.ranks, 0);
    auto sum = elements.room(count), arrived = elements.room(count);
    elements.copy(terms == MPI_IN_PLACE ? result : terms, sum.data(), count);
    const bool is_paired = team.rank < 2 * power.extra;
    if (is_paired && team.rank % 2 == 0) {
        Request::send(sum.data(), count, type, team.rank + 1, tag, comm);
        if (counts[team.rank] > 0)
            Request::recv(result, counts[team.rank], type, team.rank + 1, tag, comm,
                          MPI_STATUS_IGNORE);
        return MPI_SUCCESS;
    }
    if (is_paired) {
        Request::recv(arrived.data(), count, type, team.rank - 1, tag, comm, MPI_STATUS_IGNORE);
        elements.add(arrived.data(), sum.data(), count, op);
    }
    const int number = is_paired ? team.rank / 2 : team.rank - power.extra;
    const auto starts = block_starts(counts, power);
    int low = 0, high = power.size;
    for (int bit = power.size / 2; bit > 0; bit /= 2) {
        const int middle = low + bit, with = power.rank_of(number ^ bit, false);
        const bool keeps_left = (number & bit) == 0;
        const Window left = {starts[low], starts[middle] - starts[low]};
        const Window right = {starts[middle], starts[high] - starts[middle]};
        const Window kept = keeps_left ? left : right, given = keeps_left ? right : left;
        MPI_Request request = MPI_REQUEST_NULL;
        if (kept.count > 0)
            request = Request::irecv(arrived.data(), kept.count, type, with, tag, comm);
        if (given.count > 0)
            Request::send(elements.at(sum.data(), given.begin), given.count, type, with, tag, comm);
        if (kept.count > 0) {
            Request::wait(&request, MPI_STATUS_IGNORE);
            elements.add(arrived.data(), elements.at(sum.data(), kept.begin), kept.count, op);
        }
        (keeps_left ? high : low) = middle;
    }
    char *mine = elements.at(sum.data(), starts[number]);
    if (is_paired) {
        if (counts[team.rank - 1] > 0)
            Request::send(mine, counts[team.rank - 1], type, team.rank - 1, tag, comm);
        mine = elements.at(mine, counts[team.rank - 1]);
    }
    elements.copy(mine, result, counts[team.rank]);
    return MPI_SUCCESS;
}

int sum_and_scatter(const void *terms, void *result, const int *counts, MPI_Datatype type,
                    MPI_Op op, MPI_Comm comm)
{
    const Team team(comm);
    const Elements elements(type);
    const int count = std::accumulate(counts, counts + team.ranks, 0);
    auto sum = elements.room(count);
    const Shape shape = reduction_choice(team.ranks, elements.bytes(count));
    reduce_tree(shape, terms == MPI_IN_PLACE ? result : terms, sum.data(), count, type, op, 0,
                comm);
    const int mine = counts[team.rank];
    if (team.rank > 0) {
        if (mine > 0)
            Request::recv(result, mine, type, 0, tag, comm, MPI_STATUS_IGNORE);
        return MPI_SUCCESS;
    }
    elements.copy(sum.data(), result, mine);
    const char *part = sum.data();
    for (int rank = 1; rank < team.ranks; rank++) {
        part = elements.at(part, counts[rank - 1]);
        if (counts[rank] > 0)
            Request::send(part, counts[rank], type, rank, tag, comm);
    }
    return MPI_SUCCESS;
}

} /* namespace bareline */
