/* What the platform tells the simulator, read from the file that BARELINE_CLUSTER names.
 *
 * A line is a key, a blank and its value. Unknown keys end the simulation: the file and this
 * library are of one build. */
#ifndef BL_SIMULATOR_SETTINGS_HPP
#define BL_SIMULATOR_SETTINGS_HPP

#include <string>
#include <vector>

namespace bareline
{

/* Thresholds in bytes, rising, each with a start and a slope: `THRESHOLD:START[:SLOPE];...`. */
class Stretches
{
  public:
    Stretches() = default;
    explicit Stretches(const std::string &text);

    /* The value at a size: start + slope * size of the last threshold below it, else of the first.
     */
    double at(double size_bytes) const;
    bool empty() const
    {
        return parts_.empty();
    }

  private:
    struct Part {
        double threshold_bytes, start, slope;
    };
    std::vector<Part> parts_;
};

/* Costs of one kind of message: within a node, or between nodes. */
struct Costs {
    Stretches latency_s; /* from leaving to arriving, of its first byte */
    Stretches seconds_per_byte;
    Stretches departure_s; /* how long a blocking sender is busy before the message leaves */
    Stretches send_s;      /* how long one that goes on at once is busy */
    Stretches receive_s;   /* how long the receiver is busy */
};

struct Settings {
    std::string description;     /* SimGrid's description of the cluster */
    double port_bytes_per_s = 0; /* what factors of bandwidth multiply, between nodes */
    double loopback_bytes_per_s = 0;
    double latency_s = 0; /* of a route as described, which factors multiply */
    double loopback_latency_s = 0;
    double message_gap_s = 0; /* from a node's NIC taking one message to its taking the next */
    Costs within, between;
    std::string collectives; /* functions that take Open MPI's algorithms as they are counted */
    std::string counts;      /* file for the messages that were sent; empty: they are not counted */
    double counts_every_s = 0; /* simulated time of one group of counts */
};

/* Reads the file that BARELINE_CLUSTER names; ends the process with one line if it cannot. */
Settings read_settings();

} /* namespace bareline */

#endif
