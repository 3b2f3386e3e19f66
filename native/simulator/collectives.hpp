/* Collective functions as Open MPI 4.1 makes them, where SimGrid 3.32 has others. */
#ifndef BL_SIMULATOR_COLLECTIVES_HPP
#define BL_SIMULATOR_COLLECTIVES_HPP

#include <string>

namespace bareline
{

/* Puts them into the places of SimGrid's: those of the functions that are named, with blanks
 * between. Called when SimGrid has chosen its own. */
void choose_collectives(const std::string &functions);

} /* namespace bareline */

#endif
