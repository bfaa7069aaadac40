//===- Table.cpp - all rows of the table of ops ---------------------------===//

#include "lib/Import/Torch/Translator.h"

using namespace llvm;
using namespace braid::torch;

static constexpr OpFamily kFamilies[] = {
    {"Tensors from numbers", creationRows},
    {"Arithmetic, comparisons, activations", elementwiseRows},
    {"Formulas of other ops", composedRows},
    {"Views, slices, joins, gathers", movementRows},
    {"Sums, means, maxima", reductionRows},
    {"Linear layers and matrix products", contractionRows},
    {"Convolutions", convolutionRows},
    {"Norms, softmax, attention", layerRows},
    {"Losses", lossRows},
};

ArrayRef<OpFamily> braid::torch::allFamilies() { return kFamilies; }

std::vector<const OpRow *> braid::torch::allRows() {
  std::vector<const OpRow *> rows;
  for (const OpFamily &family : kFamilies)
    for (const OpRow &row : family.rows())
      rows.push_back(&row);
  return rows;
}
