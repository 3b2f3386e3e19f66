/* Messages by the simulated time at which they set out, sender, receiver and size, for tests that
 * hold them against a real library's. */
#ifndef BL_SIMULATOR_COUNTING_HPP
#define BL_SIMULATOR_COUNTING_HPP

#include "settings.hpp"

namespace bareline
{

/* Counts a message between the nodes of these names, which end in their number. */
void count_message(const Settings &settings, double now_s, const char *from, const char *to,
                   double size_bytes);

/* Writes `group from to messages bytes`, a line each. */
void write_counts(const Settings &settings);

} /* namespace bareline */

#endif
