// Rates of tiles: measured where the machine has wgmma, estimated elsewhere.
#include "tilec/Machine/Rates.h"

using namespace tilec;

// H200, bf16 NT, 30 Nov 2026: 37 sets of sizes at 18 shapes and eight at 36 random ones (single launches, caches
// flushed). With these numbers the set of least cost is the fastest of the eight or within 2 % of it at all but three
// shapes, on average 0.6 % slower. Where few rows make the weights decide, tiles of more rows than there are read them
// slower: boxes out of bounds cost. Tiles of 64 rows: with evict_first for the columns, at six shapes of 48 to 256
// rows. Tiles of 128x224, 128x64, 32x128 and 8x64, 1 Dec 2026: from three to six shapes
// (docs/decisions/choice-of-tiles.md), the first one's efficiency a guess on the low side. Groups that take turns:
// fitted to eight large and five small shapes, plain and with silu, GELU and a residual. Tiles of 128x160 that are
// alone in their blocks are slower than that; the edge says so. Functions cost more in turns than where groups share a
// tile: their multiply-adds and the products of the other group slow each other down. Short epilogues find free slots:
// silu and two forms of GELU at four shapes (1 Dec 2026); shared tiles wait for the unit of special functions instead.
// Promoted sums of 8-bit floats: 128x192, 128x256 and 128x128 at five shapes, the same day. Rows that do not begin with
// sectors of the second-level cache, and clusters of two blocks: nine sizes of tiles at eight shapes, the same day
// (docs/decisions/clusters-of-tiles.md).
static constexpr ProductTile productsWgmma[] = {
    {128, 256, 128, 1000, 775, 2200, true, false, false, 0, 920, true, false, true},
    {256, 160, 128, 1000, 775, 3000, true, false},
    {256, 128, 128, 995, 740, 2200, true, false, false, 0, 910, true, true, true},
    {128, 192, 128, 980, 600, 2100, false, false, false, 980, 960},
    {128, 160, 128, 0, 600, 8000, false, false, false, 975},
    {128, 128, 128, 0, 600, 3000, false, false, false, 957, 900},
    {128, 128, 256, 985, 730, 2000, false, true},
    {128, 224, 256, 870, 790, 2200, false, false},
    {128, 64, 128, 480, 770, 50, false, false},
    {64, 128, 256, 800, 795, 1100, true, false, true, 0, 700, false, false, true},
    {64, 64, 256, 800, 785, 1050, false, false, false, 0, 700},
    {32, 128, 256, 280, 818, 1500, false, false},
    {32, 64, 256, 900, 810, 1500, false, false, false, 0, 800},
    {16, 64, 256, 800, 830, 1300, true, false, false, 0, 750},
    {8, 64, 512, 800, 850, 1450, false, false},
};

// The same day and card, full and causal, 1024, 4096 and 16384 keys, eight sets of sizes: these are the fastest by head
// size, within 3 % of their measured times. Blocks of 128 queries waste fewer rows of short sequences.
static constexpr AttentionTile attentionWgmma[] = {
    {64, 256, 96, 700, 1700, 2600, false},  {64, 128, 128, 597, 1100, 1450, true},  {128, 192, 80, 951, 2600, 0, false},
    {128, 128, 128, 872, 2000, 2500, true}, {256, 128, 64, 1025, 6500, 7900, true},
};

// mma.sync from rings of cp.async: estimates around the peak of an A100, no measurements. Blocks of more than 128
// columns keep too many accumulators for two blocks to share a multiprocessor.
static constexpr ProductTile productsWarp[] = {
    {128, 128, 64, 600, 700, 1500, true, true, true},
    {64, 64, 64, 450, 700, 1000, false, false},
};

static constexpr AttentionTile attentionWarp[] = {
    {128, 64, 64, 400, 3000, 3000, true},
    {256, 64, 32, 300, 3000, 3000, true},
};

static const MachineRates withWgmma = {3250, 90,  600,  1040,          180,           4, 90, 1200, 0, 14, 420,
                                       3,    300, 3700, productsWgmma, attentionWgmma};
static const MachineRates withWarpMma = {1400, 60, 1000, 1000,         500,          0, 0, 0, 0, 0, 0,
                                         0,    0,  3700, productsWarp, attentionWarp};

const MachineRates &tilec::ratesOf(const Machine &machine) { return machine.hasWgmma ? withWgmma : withWarpMma; }
