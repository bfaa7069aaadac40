//===- TrainingFacts.cpp - training facts that ops do not show ------------===//

#include "dialects/TG/TrainingFacts.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace braid::tg;

static DictionaryAttr write(const TrainingFacts &facts, MLIRContext *context) {
  Builder builder(context);
  NamedAttrList fields, ranges, ignored;
  auto addText = [&](NamedAttrList &list, StringRef name, StringRef text) {
    if (!text.empty())
      list.set(name, builder.getStringAttr(text));
  };
  addText(fields, "model", facts.model);
  addText(fields, "optimizer", facts.optimizer);
  fields.set("microbatches", builder.getI64IntegerAttr(facts.microbatches));
  for (const IndexedBy &range : facts.indices)
    ranges.set(range.input, builder.getDenseI64ArrayAttr({range.extent, range.ignored}));
  if (!ranges.empty())
    fields.set("indices", ranges.getDictionary(context));
  if (facts.ignored) {
    addText(ignored, "input", facts.ignored->input);
    ignored.set("index", builder.getI64IntegerAttr(facts.ignored->index));
    ignored.set("mean", builder.getBoolAttr(facts.ignored->isMean));
    ignored.set("rows", builder.getBoolAttr(facts.ignored->rows));
    fields.set("ignored", ignored.getDictionary(context));
  }
  if (facts.identity.hash)
    fields.set("hash", builder.getI64IntegerAttr(static_cast<int64_t>(facts.identity.hash)));
  addText(fields, "operations", facts.identity.operations);
  addText(fields, "replays", facts.replays);
  if (!facts.options.empty())
    fields.set("options", builder.getStrArrayAttr(SmallVector<StringRef>(facts.options.begin(), facts.options.end())));
  return fields.getDictionary(context);
}

static std::string textIn(DictionaryAttr fields, StringRef name) {
  auto text = fields.getAs<StringAttr>(name);
  return text ? text.str() : "";
}

static int64_t numberIn(DictionaryAttr fields, StringRef name) {
  auto number = fields.getAs<IntegerAttr>(name);
  return number && number.getValue().getBitWidth() <= 64 ? number.getValue().getSExtValue() : 0;
}

/// Ignores fields of the wrong type.
static TrainingFacts read(DictionaryAttr fields) {
  TrainingFacts facts{textIn(fields, "model"), textIn(fields, "optimizer")};
  facts.microbatches = std::max<int64_t>(1, numberIn(fields, "microbatches"));
  if (auto ranges = fields.getAs<DictionaryAttr>("indices"))
    for (NamedAttribute range : ranges)
      if (auto numbers = dyn_cast<DenseI64ArrayAttr>(range.getValue()); numbers && numbers.size() == 2)
        facts.indices.push_back({range.getName().str(), numbers[0], numbers[1]});
  if (auto ignored = fields.getAs<DictionaryAttr>("ignored"))
    facts.ignored = {textIn(ignored, "input"), static_cast<int32_t>(numberIn(ignored, "index")),
                     numberIn(ignored, "mean") != 0, numberIn(ignored, "rows") != 0};
  facts.identity = {static_cast<uint64_t>(numberIn(fields, "hash")), textIn(fields, "operations")};
  facts.replays = textIn(fields, "replays");
  if (auto options = fields.getAs<ArrayAttr>("options"))
    for (Attribute option : options)
      if (auto word = dyn_cast<StringAttr>(option))
        facts.options.push_back(word.str());
  return facts;
}

void TrainingFacts::attachTo(ModuleOp module) const { module->setAttr(kTraining, write(*this, module.getContext())); }

std::optional<TrainingFacts> TrainingFacts::of(ModuleOp module) {
  auto fields = module->getAttrOfType<DictionaryAttr>(kTraining);
  return fields ? std::optional(read(fields)) : std::nullopt;
}

LogicalResult braid::tg::verifyTraining(Operation *op, Attribute value) {
  auto fields = dyn_cast<DictionaryAttr>(value);
  if (!isa<ModuleOp>(op) || !fields)
    return op->emitOpError() << "has '" << kTraining << "' = " << value << ", which must be a dictionary on a module";
  if (DictionaryAttr understood = write(read(fields), op->getContext()); understood != fields)
    return op->emitOpError() << "has '" << kTraining << "' = " << value << ", of which only " << understood
                             << " is understood";
  return success();
}
