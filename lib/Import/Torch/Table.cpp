//===- Table.cpp - all rows of the table of ops ---------------------------===//

#include "lib/Import/Torch/Routing.h"
#include "lib/Import/Torch/Translator.h"

using namespace llvm;
using namespace braid::torch;

static constexpr OpFamily kFamilies[] = {
    {"Tensors from numbers", creationRows},
    {"Random numbers", randomRows},
    {"Arithmetic, comparisons, activations", elementwiseRows},
    {"Functions and activations as formulas", formulaRows},
    {"Formulas of other ops", composedRows},
    {"Views, slices, joins", movementRows},
    {"Rows, elements and sums by index", indexingRows},
    {"Sums, means, maxima", reductionRows},
    {"Linear layers and matrix products", contractionRows},
    {"Convolutions", convolutionRows},
    {"Pools, images of another size", poolingRows},
    {"Norms, softmax, attention", layerRows},
    {"Routing of experts", routingRows},
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
