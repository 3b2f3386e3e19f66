/* See settings.hpp. */
#include "settings.hpp"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <map>
#include <sstream>

namespace bareline
{

namespace
{

[[noreturn]] void die(const std::string &what)
{
    std::fprintf(stderr, "bareline: the simulated cluster: %s\n", what.c_str());
    std::exit(2);
}

double number(const std::string &text)
{
    char *end = nullptr;
    const double value = std::strtod(text.c_str(), &end);
    if (text.empty() || *end != '\0')
        die("'" + text + "' is no number");
    return value;
}

void read_costs(std::map<std::string, std::function<void(const std::string &)>> &keys,
                const std::string &where, Costs &costs)
{
    const std::map<std::string, Stretches *> members = {
        {"latency_s", &costs.latency_s},     {"seconds_per_byte", &costs.seconds_per_byte},
        {"departure_s", &costs.departure_s}, {"send_s", &costs.send_s},
        {"receive_s", &costs.receive_s},
    };
    for (const auto &[name, member] : members) {
        Stretches *const target = member;
        keys[where + "." + name] = [target](const std::string &text) { *target = Stretches(text); };
    }
}

} /* namespace */

Stretches::Stretches(const std::string &text)
{
    std::istringstream all(text);
    std::string part;
    while (std::getline(all, part, ';')) {
        std::istringstream fields(part);
        std::string threshold, start, slope;
        std::getline(fields, threshold, ':');
        std::getline(fields, start, ':');
        std::getline(fields, slope, ':');
        parts_.push_back({number(threshold), number(start), slope.empty() ? 0.0 : number(slope)});
    }
}

double Stretches::at(double size_bytes) const
{
    const Part *found = nullptr;
    for (const Part &part : parts_)
        if (found == nullptr || part.threshold_bytes < size_bytes)
            found = &part;
    return found ? found->start + found->slope * size_bytes : 0.0;
}

Settings read_settings()
{
    const char *path = std::getenv("BARELINE_CLUSTER");
    if (path == nullptr)
        die("BARELINE_CLUSTER names no file");
    std::ifstream file(path);
    if (!file)
        die(std::string("cannot read ") + path);
    Settings settings;
    std::map<std::string, std::function<void(const std::string &)>> keys = {
        {"collectives", [&](const std::string &text) { settings.collectives = text; }},
        {"description", [&](const std::string &text) { settings.description = text; }},
        {"port_bytes_per_s",
         [&](const std::string &text) { settings.port_bytes_per_s = number(text); }},
        {"loopback_bytes_per_s",
         [&](const std::string &text) { settings.loopback_bytes_per_s = number(text); }},
        {"latency_s", [&](const std::string &text) { settings.latency_s = number(text); }},
        {"loopback_latency_s",
         [&](const std::string &text) { settings.loopback_latency_s = number(text); }},
        {"message_gap_s", [&](const std::string &text) { settings.message_gap_s = number(text); }},
    };
    read_costs(keys, "within", settings.within);
    read_costs(keys, "between", settings.between);
    std::string line;
    while (std::getline(file, line)) {
        const auto blank = line.find(' ');
        const auto known = keys.find(line.substr(0, blank));
        if (blank == std::string::npos || known == keys.end())
            die("'" + line + "' is no setting");
        known->second(line.substr(blank + 1));
    }
    if (const char *counts = std::getenv("BARELINE_MESSAGES")) {
        const std::string text = counts;
        const auto colon = text.find(':');
        settings.counts_every_s = number(text.substr(0, colon));
        settings.counts = text.substr(colon + 1);
    }
    return settings;
}

} /* namespace bareline */
