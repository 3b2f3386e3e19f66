/* See trees.hpp. Numbers here count from the root. */
#include "trees.hpp"

#include <algorithm>

namespace bareline
{

namespace
{

enum { RADIX = 4 };

Place linear(int me, int ranks)
{
    Place place{me == 0 ? -1 : 0, {}};
    for (int child = 1; me == 0 && child < ranks; child++)
        place.children.push_back(child);
    return place;
}

Place chain(int me, int)
{
    return {me - 1, {me + 1}};
}

/* A level holds twice as many as the one before; children are one and two of these widths away. */
Place binary(int me, int)
{
    int width = 1;
    while (2 * width <= me + 1)
        width *= 2;
    Place place{-1, {me + width, me + 2 * width}};
    if (me > 0) {
        const int above = width / 2;
        const bool is_first = me - above < width - 1;
        place.parent = is_first ? me - above : me - 2 * above;
    }
    return place;
}

Place binomial(int me, int ranks)
{
    int bit = 1;
    while (bit <= me)
        bit *= 2;
    Place place{me == 0 ? -1 : me - bit / 2, {}};
    for (; bit < ranks; bit *= 2)
        place.children.push_back(me + bit);
    return place;
}

Place in_order(int me, int ranks)
{
    Place place;
    for (int bit = 1; bit < ranks; bit *= 2) {
        if (me & bit) {
            place.parent = me - bit;
            break;
        }
        place.children.push_back(me + bit);
    }
    return place;
}

Place knomial(int me, int ranks)
{
    Place place;
    int width = 1;
    while (width < ranks && me % (RADIX * width) == 0)
        width *= RADIX;
    if (me > 0)
        place.parent = me - me % (RADIX * width);
    for (width /= RADIX; width > 0; width /= RADIX)
        for (int step = 1; step < RADIX; step++)
            place.children.push_back(me + step * width);
    return place;
}

} /* namespace */

Place place_in(Shape shape, int rank, int ranks, int root)
{
    Place (*const shapes[])(int, int) = {linear, chain, binary, binomial, in_order, knomial};
    Place place = shapes[static_cast<int>(shape)]((rank - root + ranks) % ranks, ranks);
    auto &children = place.children;
    children.erase(std::remove_if(children.begin(), children.end(),
                                  [ranks](int child) { return child >= ranks; }),
                   children.end());
    for (int &child : children)
        child = (child + root) % ranks;
    if (place.parent >= 0)
        place.parent = (place.parent + root) % ranks;
    return place;
}

} /* namespace bareline */
