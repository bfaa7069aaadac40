//===- Agreement.cpp - signature shared by a collective's ranks -----------===//

#include "lib/Schedule/Agreement.h"
#include "dialects/Comm/MovedValues.h"
#include "dialects/Comm/Programs.h"
#include "dialects/TG/ProgramSignature.h"
#include "dialects/TG/TG.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace braid;
using namespace braid::comm;

//===----------------------------------------------------------------------===//
// The parts of a signature
//===----------------------------------------------------------------------===//

/// Returns the attributes of the op itself. Leaves out the number of operands, which differs between a root and other
/// ranks.
static SmallVector<NamedAttribute> attributesOf(Operation *op) {
  SmallVector<NamedAttribute> attributes;
  if (auto all = dyn_cast_or_null<DictionaryAttr>(op->getPropertiesAsAttribute()))
    for (NamedAttribute attribute : all)
      if (attribute.getName() != OpTrait::AttrSizedOperandSegments<void>::getOperandSegmentSizeAttr())
        attributes.push_back(attribute);
  return attributes;
}

/// Returns the logical tensor types; null if there are none.
static ArrayAttr tensorTypes(MLIRContext *context, TypeRange types) {
  SmallVector<Attribute> result;
  for (Type type : types) {
    auto ref = dyn_cast<exec::RefType>(type);
    result.push_back(TypeAttr::get(ref ? Type(ref.getTensorType()) : type));
  }
  return result.empty() ? ArrayAttr() : ArrayAttr::get(context, result);
}

/// Returns the number in the name of a message's state. The states `stage0_activation_out.1` and
/// `stage1_activation_in.1` of one message have the same number.
static StringAttr numberOfMessage(StringAttr state) {
  return StringAttr::get(state.getContext(), state.getValue().rsplit('.').second);
}

/// Adds, for a cell, which of the messages between two stages each tensor is. The name of its state holds that number.
static void addMessages(CollectiveOpInterface op, SmallVectorImpl<Attribute> &moved) {
  auto cell = op->getParentOfType<func::FuncOp>();
  if (!cell || !cell->hasAttr(CommDialect::kCell))
    return;
  for (Value sent : op.getSent())
    if (tg::StateAttr state = tg::stateOf(sent))
      moved.push_back(numberOfMessage(state.getName()));
  for (Value received : op->getResults())
    for (OpOperand &use : received.getUses())
      if (StringAttr state = tg::updatedTensorName(use))
        moved.push_back(numberOfMessage(state));
}

static ArrayAttr movedOf(CollectiveOpInterface op) {
  ArrayAttr recorded = movedValuesOf(op);
  if (!recorded)
    return {};
  SmallVector<Attribute> moved(recorded.getValue());
  addMessages(op, moved);
  return ArrayAttr::get(op->getContext(), moved);
}

Agreement braid::agreementOf(CollectiveOpInterface op) {
  MLIRContext *context = op->getContext();
  auto outs = cast<exec::ActionOpInterface>(*op).getActionOuts();
  Attribute content = ArrayAttr::get(context, {StringAttr::get(context, op->getName().getStringRef()),
                                               DictionaryAttr::get(context, attributesOf(op))});
  return {content, tensorTypes(context, op.getSent().getTypes()),
          tensorTypes(context, outs.empty() ? TypeRange(op->getResultTypes()) : TypeRange(outs.getTypes())),
          movedOf(op)};
}

//===----------------------------------------------------------------------===//
// Differences
//===----------------------------------------------------------------------===//

std::string RankAt::str() const { return (op->getName().stripDialect() + " #" + Twine(number)).str(); }

std::string RankAt::strRelativeTo(const RankAt &other) const {
  bool sameName = op->getName() == other.op->getName();
  return sameName ? str() + " over " + textOf(CollectiveOpInterface(op).getAxes()) : str();
}

std::string braid::textOf(AxesAttr axes) {
  SmallVector<StringRef> names;
  for (StringAttr name : axes.getNames())
    names.push_back(name.getValue());
  return "{" + llvm::join(names, ", ") + "}";
}

namespace {

/// Compares one part of the signatures after another until two differ.
class Difference {
public:
  Difference(const RankAt &a, const RankAt &b) : a(a), b(b) {}
  std::string find();

private:
  template <typename T> bool differs(const Twine &what, const T &ofA, const T &ofB);
  bool typesDiffer(ArrayAttr ofA, ArrayAttr ofB);
  bool movedDiffer(ArrayAttr ofA, ArrayAttr ofB);

  RankAt a, b;
  std::string text;
};

} // namespace

static std::string str(int64_t number) { return std::to_string(number); }
static std::string str(Reduction reduction) { return stringifyReduction(reduction).str(); }
template <typename T> static std::string str(std::optional<T> value) { return value ? str(*value) : "none"; }
static std::string str(Attribute attribute) {
  std::string text;
  llvm::raw_string_ostream os(text);
  if (auto numbers = dyn_cast_or_null<DenseI64ArrayAttr>(attribute)) {
    os << '[';
    llvm::interleaveComma(numbers.asArrayRef(), os);
    os << ']';
  } else if (attribute) {
    os << attribute;
  } else {
    os << "none";
  }
  return text;
}

template <typename T> bool Difference::differs(const Twine &what, const T &ofA, const T &ofB) {
  if (ofA == ofB)
    return false;
  llvm::raw_string_ostream(text) << what << " is " << str(ofA) << " on rank " << a.rank << " and " << str(ofB)
                                 << " on rank " << b.rank;
  return true;
}

bool Difference::typesDiffer(ArrayAttr ofA, ArrayAttr ofB) {
  if (differs("the number of tensors", int64_t(ofA.size()), int64_t(ofB.size())))
    return true;
  for (auto [index, types] : llvm::enumerate(llvm::zip_equal(ofA, ofB)))
    if (differs("tensor " + Twine(index), std::get<0>(types), std::get<1>(types)))
      return true;
  return false;
}

bool Difference::movedDiffer(ArrayAttr ofA, ArrayAttr ofB) {
  return ofA && ofB && differs("the list of moved values ('comm.moved')", Attribute(ofA), Attribute(ofB));
}

std::string Difference::find() {
  Agreement ofA = agreementOf(a.op), ofB = agreementOf(b.op);
  if (a.isPointToPoint) {
    auto tensors = [](const Agreement &of) { return of.sent ? of.sent : of.received; };
    auto none = ArrayAttr::get(a.op->getContext(), {});
    if (!typesDiffer(tensors(ofA) ? tensors(ofA) : none, tensors(ofB) ? tensors(ofB) : none))
      movedDiffer(ofA.moved, ofB.moved);
    return text;
  }
  if (a.op->getName() != b.op->getName())
    return ("rank " + Twine(a.rank) + " is at " + a.str() + " and rank " + Twine(b.rank) + " at " + b.str()).str();
  if (differs("the reduction", a.op.getReductionKind(), b.op.getReductionKind()) ||
      differs("the root", a.op.getRootRank(), b.op.getRootRank()))
    return text;
  for (NamedAttribute attribute : attributesOf(a.op))
    if (differs("'" + attribute.getName().strref() + "'", attribute.getValue(),
                cast<DictionaryAttr>(b.op->getPropertiesAsAttribute()).get(attribute.getName())))
      return text;
  if (ofA.sent && ofB.sent && typesDiffer(ofA.sent, ofB.sent))
    return text;
  if (ofA.received && ofB.received && typesDiffer(ofA.received, ofB.received))
    return text;
  movedDiffer(ofA.moved, ofB.moved);
  return text;
}

std::string braid::describeDifference(const RankAt &a, const RankAt &b) { return Difference(a, b).find(); }
