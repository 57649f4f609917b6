// Measured rates of tiles.
#include "tilec/Machine/Rates.h"

using namespace tilec;

// H200, bf16 NT, 30 Nov 2026: 37 sets of sizes at 18 shapes in one run (single launches). Peak, load and launch
// reproduce the times of these tiles at full waves to 3 %; the least time of the tiles below is within 1 % of that of
// all 37. Where few rows make the weights decide, tiles of more rows than there are read them slower: boxes out of
// bounds cost.
static constexpr ProductTile productsWgmma[] = {
    {128, 256, 128, 1000, 770, 1900, true, false}, {256, 160, 128, 985, 700, 2300, true, false},
    {128, 192, 128, 965, 700, 1700, false, false}, {128, 128, 256, 960, 730, 1500, false, true},
    {64, 128, 256, 960, 690, 1100, true, false},   {64, 64, 256, 900, 710, 1100, false, false},
    {32, 64, 256, 900, 820, 2000, false, false},   {16, 64, 256, 900, 860, 2000, true, false},
};

static constexpr AttentionTile attentionWgmma[] = {
    {64, 128, 128, 500, 3000, true},
    {128, 192, 128, 640, 4500, true},
    {128, 128, 128, 600, 3500, false},
    {256, 128, 64, 600, 4000, true},
};

// mma.sync from rings of cp.async. Blocks of more than 128 columns keep too many accumulators for two blocks to share a
// multiprocessor.
static constexpr ProductTile productsWarp[] = {
    {128, 128, 64, 600, 700, 1500, true, true},
    {64, 64, 64, 450, 700, 1000, false, false},
};

static constexpr AttentionTile attentionWarp[] = {
    {128, 64, 64, 400, 3000, true},
    {256, 64, 32, 300, 3000, true},
};

static const MachineRates withWgmma = {3225, 88, 500, 3500, productsWgmma, attentionWgmma};
static const MachineRates withWarpMma = {1400, 60, 500, 3500, productsWarp, attentionWarp};

const MachineRates &tilec::ratesOf(const Machine &machine) { return machine.hasWgmma ? withWgmma : withWarpMma; }
