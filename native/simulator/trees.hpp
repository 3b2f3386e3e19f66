/* Trees along which messages go from or to a root, in the shapes that Open MPI gives them. */
#ifndef BL_SIMULATOR_TREES_HPP
#define BL_SIMULATOR_TREES_HPP

#include <vector>

namespace bareline
{

enum class Shape {
    linear,   /* the root and all others */
    chain,    /* each one after the other */
    binary,   /* two children, in levels */
    binomial, /* the highest bit away: the subtrees of the first children are the deepest */
    in_order, /* the lowest bit away: a subtree holds neighbours */
    knomial,  /* of radix 4, neighbours in a subtree, the largest subtree first */
};

/* Where a rank stands; -1 as the parent of the root. Children in the order of their messages. */
struct Place {
    int parent = -1;
    std::vector<int> children;
};

/* The place of a rank in a tree of so many. */
Place place_in(Shape shape, int rank, int ranks, int root);

} /* namespace bareline */

#endif
