/* See choices.hpp. */
#include "choices.hpp"

#include <climits>

namespace bareline
{

namespace
{

constexpr int any = INT_MAX;
constexpr long all = LONG_MAX;
constexpr long kib = 1024;

/* Holds on fewer ranks and for less bytes than these, if none before it does. */
template <typename Choice> struct Rule {
    int ranks_below;
    long bytes_below;
    Choice choice;
};

template <typename Choice, int N>
Choice first(const Rule<Choice> (&rules)[N], int ranks, long bytes)
{
    for (const auto &rule : rules)
        if (ranks < rule.ranks_below && bytes < rule.bytes_below)
            return rule.choice;
    return rules[N - 1].choice;
}

constexpr BroadcastChoice linear = {Broadcast::tree, Shape::linear};
constexpr BroadcastChoice chain = {Broadcast::tree, Shape::chain};
constexpr BroadcastChoice binary = {Broadcast::tree, Shape::binary};
constexpr BroadcastChoice binomial = {Broadcast::tree, Shape::binomial};
constexpr BroadcastChoice knomial = {Broadcast::tree, Shape::knomial};
constexpr BroadcastChoice scattered = {Broadcast::scattered, Shape::linear};

} /* namespace */

BroadcastChoice broadcast_choice(int ranks, long bytes)
{
    /* On 512 to 1023 ranks 16 to 32 KiB go along two binary trees, half of them each: one here. */
    static constexpr Rule<BroadcastChoice> rules[] = {
        {4, 32, chain},
        {4, 256, binary},
        {4, 512, chain},
        {4, kib, knomial},
        {4, 32 * kib, linear},
        {4, 128 * kib, binary},
        {4, 256 * kib, chain},
        {4, 512 * kib, linear},
        {4, 1024 * kib, binomial},
        {4, all, binary},
        {8, 64, binary},
        {8, 128, binomial},
        {8, 2 * kib, binary},
        {8, 8 * kib, binomial},
        {8, 1024 * kib, linear},
        {8, all, chain},
        {16, 8, knomial},
        {16, 64, binary},
        {16, 4 * kib, knomial},
        {16, 16 * kib, binary},
        {16, 32 * kib, binomial},
        {16, all, linear},
        {32, 4 * kib, knomial},
        {32, 1024 * kib, binomial},
        {32, all, scattered},
        {64, 2 * kib, binomial},
        {128, all, knomial},
        {256, 2, binomial},
        {256, 16 * kib, binary},
        {256, 32 * kib, linear},
        {256, 64 * kib, binary},
        {512, all, knomial},
        {1024, 16 * kib, knomial},
        {1024, 32 * kib, binary},
        {1024, all, knomial},
        {2048, 512 * kib, knomial},
        {4096, 256 * kib, knomial},
        {4096, all, scattered},
        {any, 8 * kib, knomial},
        {any, 16 * kib, binary},
        {any, 256 * kib, knomial},
        {any, all, scattered},
    };
    return first(rules, ranks, bytes);
}

Shape reduction_choice(int ranks, long bytes)
{
    static constexpr Rule<Shape> rules[] = {
        {4, 8, Shape::linear},         {4, 16, Shape::binary},
        {4, 32, Shape::chain},         {4, 256 * kib, Shape::linear},
        {4, all, Shape::chain},        {8, 4 * kib, Shape::binary},
        {8, 64 * kib, Shape::chain},   {8, 256 * kib, Shape::in_order},
        {8, 512 * kib, Shape::linear}, {8, 1024 * kib, Shape::in_order},
        {8, all, Shape::linear},       {16, 8 * kib, Shape::binary},
        {32, 4 * kib, Shape::binary},  {any, all, Shape::in_order},
    };
    return first(rules, ranks, bytes);
}

Sum sum_choice(int ranks, long bytes)
{
    static constexpr Rule<Sum> rules[] = {
        {4, 8, Sum::ring},
        {4, 4 * kib, Sum::doubling},
        {4, 8 * kib, Sum::ring},
        {4, 16 * kib, Sum::doubling},
        {4, 256 * kib, Sum::ring},
        {4, all, Sum::halving},
        {16, 8 * kib, Sum::doubling},
        {16, all, Sum::halving},
        {32, 4 * kib, Sum::doubling},
        {32, all, Sum::halving},
        {64, 128, Sum::doubling},
        {64, all, Sum::halving},
        {128, 256 * kib, Sum::doubling},
        {128, all, Sum::halving},
        {256, 128 * kib, Sum::reduced},
        {256, 256 * kib, Sum::doubling},
        {256, all, Sum::halving},
        {512, 4 * kib, Sum::reduced},
        {512, all, Sum::halving},
        {any, 2 * kib, Sum::reduced},
        {any, 16 * kib, Sum::doubling},
        {any, all, Sum::halving},
    };
    return first(rules, ranks, bytes);
}

Parts parts_choice(int ranks, long bytes)
{
    static constexpr Rule<Parts> rules[] = {
        {4, all, Parts::others},         {8, 8, Parts::reduced},
        {32, 256 * kib, Parts::halving}, {32, all, Parts::others},
        {64, 64, Parts::reduced},        {64, 2 * kib, Parts::halving},
        {64, all, Parts::others},        {512, 256, Parts::reduced},
        {256, 512, Parts::halving},      {128, 2 * kib, Parts::others},
        {128, 4 * kib, Parts::halving},  {256, all, Parts::others},
        {512, kib, Parts::halving},      {512, all, Parts::others},
        {any, 512, Parts::reduced},      {any, 2 * kib, Parts::halving},
        {any, all, Parts::others},
    };
    return first(rules, ranks, bytes);
}

} /* namespace bareline */
