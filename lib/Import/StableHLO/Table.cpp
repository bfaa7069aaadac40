//===- Table.cpp - all rows of the table of ops ---------------------------===//

#include "lib/Import/StableHLO/Translator.h"

using namespace llvm;
using namespace braid::stablehlo;

static constexpr OpFamily kFamilies[] = {
    {"Constants and positions", sourceRows},
    {"Arithmetic, comparisons, choices", elementwiseRows},
    {"Functions of numbers, as formulas", functionRows},
    {"Shapes, parts, joins", movementRows},
    {"Gathers, scatters, parts at positions", indexingRows},
    {"Sums, maxima, the largest", reductionRows},
    {"Running sums, pools", windowRows},
    {"Matrix products", contractionRows},
    {"Convolutions of any layout", convolutionRows},
    {"Bits of random numbers", randomRows},
    {"Functions, loops, choices", controlRows},
};

ArrayRef<OpFamily> braid::stablehlo::allFamilies() { return kFamilies; }
