/*
 * The simulated cluster as smpirun loads it: nodes and links, and what a message costs by where it
 * goes.
 *
 * SMPI's options know one cost for every message. Here a message between ranks of one node costs
 * what shared memory costs, and one between nodes what the network and the processors take for it.
 * The NIC of a node takes one message after the other, in both directions, each for
 * `message_gap_s`: ranks of a node that send at the same time wait for it, one alone does not.
 *
 * Exported: load_platform.
 */
#include "collectives.hpp"
#include "counting.hpp"
#include "settings.hpp"

#include <simgrid/kernel/resource/NetworkModelIntf.hpp>
#include <simgrid/s4u.hpp>
#include <smpi/smpi.h>

#include <algorithm>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace
{

using simgrid::s4u::Host;

/* What SMPI adds to the size of each message before its network sees it. */
constexpr double envelope_bytes = 16;

/* Shortest wait of a message before it moves. */
constexpr double least_s = 1e-9;

/* When the NIC of each node is free to send and to receive its next message. */
struct Nic {
    double sends_s = 0, receives_s = 0;
};

bareline::Settings settings;
std::unordered_map<const Host *, Nic> nics;

const bareline::Costs &costs(const Host *from, const Host *to)
{
    return from == to ? settings.within : settings.between;
}

/* How long a message waits at both NICs that it passes, having left now. */
double wait_for_nics_s(const Host *from, const Host *to, double latency_s)
{
    const double now_s = simgrid::s4u::Engine::get_clock();
    Nic &sender = nics[from], &receiver = nics[to];
    const double sent_s = std::max(now_s, sender.sends_s);
    sender.sends_s = sent_s + settings.message_gap_s;
    const double received_s = std::max(sent_s + latency_s, receiver.receives_s);
    receiver.receives_s = received_s + settings.message_gap_s;
    return received_s - now_s - latency_s;
}

/* Called once for each message, when it leaves. */
double latency_factor(double size_bytes, const Host *from, const Host *to,
                      const std::vector<simgrid::s4u::Link *> &,
                      const std::unordered_set<simgrid::s4u::NetZone *> &)
{
    const double payload_bytes = size_bytes - envelope_bytes;
    const bareline::Costs &cost = costs(from, to);
    const double envelope_s = envelope_bytes * cost.seconds_per_byte.at(payload_bytes);
    const double latency_s = std::max(cost.latency_s.at(payload_bytes) - envelope_s, least_s);
    if (!settings.counts.empty())
        bareline::count_message(settings, simgrid::s4u::Engine::get_clock(), from->get_cname(),
                                to->get_cname(), payload_bytes);
    if (from == to)
        return latency_s / settings.loopback_latency_s;
    const double waits_s = settings.message_gap_s > 0 ? wait_for_nics_s(from, to, latency_s) : 0.0;
    return (latency_s + waits_s) / settings.latency_s;
}

double bandwidth_factor(double size_bytes, const Host *from, const Host *to,
                        const std::vector<simgrid::s4u::Link *> &,
                        const std::unordered_set<simgrid::s4u::NetZone *> &)
{
    const double byte_s = costs(from, to).seconds_per_byte.at(size_bytes - envelope_bytes);
    return 1 / (byte_s * (from == to ? settings.loopback_bytes_per_s : settings.port_bytes_per_s));
}

void charge(SmpiOperation operation, bareline::Stretches bareline::Costs::*what)
{
    smpi_register_op_cost_callback(operation, [what](size_t size_bytes, Host *from, Host *to) {
        return (costs(from, to).*what).at(static_cast<double>(size_bytes));
    });
}

} /* namespace */

extern "C" __attribute__((visibility("default"))) void
load_platform(const simgrid::s4u::Engine &engine);

void load_platform(const simgrid::s4u::Engine &engine)
{
    settings = bareline::read_settings();
    engine.load_platform(settings.description);
    auto *const network = engine.get_netzone_root()->get_network_model();
    network->set_lat_factor_cb(latency_factor);
    network->set_bw_factor_cb(bandwidth_factor);
    charge(SmpiOperation::SEND, &bareline::Costs::departure_s);
    charge(SmpiOperation::ISEND, &bareline::Costs::send_s);
    charge(SmpiOperation::RECV, &bareline::Costs::receive_s);
    /* SimGrid chooses its own algorithms after it has loaded this, and then makes the ranks. */
    simgrid::s4u::Actor::on_creation_cb([](const simgrid::s4u::Actor &) {
        if (!settings.collectives.empty())
            bareline::choose_collectives(settings.collectives);
        settings.collectives.clear();
    });
    if (!settings.counts.empty())
        simgrid::s4u::Engine::on_simulation_end_cb([]() { bareline::write_counts(settings); });
}
