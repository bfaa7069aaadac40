//===- FormPacks.cpp - place parameters next to each other ----------------===//

#include "dialects/TG/ProgramSignature.h"
#include "dialects/TG/TG.h"
#include "lib/Memory/Packs.h"
#include "lib/Memory/Persistent.h"
#include "lib/Target/TargetInfo.h"
#define GEN_PASS_DEF_FORMPACKSPASS
#include "passes/Arena/Passes.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace braid;

/// Names of the parameters in a pack, in order.
using Members = SmallVector<StringRef>;

/// Returns one name for several tensors: the common prefix and suffix, with the differences in braces.
static std::string packName(ArrayRef<StringRef> names) {
  StringRef first = names.front();
  size_t begin = 0, end = 0;
  auto share = [&](auto part) { return llvm::all_of(names, part); };
  while (begin < first.size() && share([&](StringRef name) { return name.starts_with(first.take_front(begin + 1)); }))
    ++begin;
  while (begin + end < first.size() &&
         share([&](StringRef name) { return name.drop_front(begin).ends_with(first.take_back(end + 1)); }))
    ++end;
  SmallVector<StringRef> inner;
  for (StringRef name : names)
    inner.push_back(name.drop_front(begin).drop_back(end));
  return (first.take_front(begin) + "{" + llvm::join(inner, ",") + "}" + first.take_back(end)).str();
}

/// Whether a parameter can have neighbours in a pack: it is held whole, and its end is aligned.
static bool mayBePacked(func::FuncOp program, Value value, int64_t alignment) {
  auto argument = dyn_cast<BlockArgument>(value);
  if (!tg::parameterOf(argument) || partIn(program.getArgAttrDict(argument.getArgNumber())))
    return false;
  auto type = cast<RankedTensorType>(argument.getType());
  return type.getNumElements() * elementBytes(type.getElementType()) % alignment == 0;
}

/// Returns the parameters that a concatenation joins, or nothing if they cannot be placed so.
static Members membersOf(func::FuncOp program, exec::ConcatOp concat, int64_t alignment) {
  Members members;
  int64_t last = -1;
  if (concat.getDim() != 0 || concat.getInputs().size() < 2)
    return {};
  for (Value input : concat.getInputs()) {
    if (!mayBePacked(program, input, alignment))
      return {};
    int64_t number = cast<BlockArgument>(input).getArgNumber();
    if (number <= last)
      return {};
    last = number;
    members.push_back(nameOf(program, number));
  }
  return members;
}

namespace {
struct FormPacks final : braid::impl::FormPacksPassBase<FormPacks> {
  void runOnOperation() final {
    const TargetInfo *target = targetOf(getOperation());
    if (!target)
      return signalPassFailure();
    SmallVector<func::FuncOp> programs;
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (!function.isExternal())
        programs.push_back(function);
    llvm::StringSet<> taken;
    for (func::FuncOp program : programs)
      for (auto concat : program.getOps<exec::ConcatOp>()) {
        Members members = membersOf(program, concat, target->alignment);
        bool isNew = !members.empty() && llvm::none_of(members, [&](StringRef name) { return taken.contains(name); }) &&
                     llvm::all_of(programs, [&](func::FuncOp other) { return allowsPack(other, members); });
        if (!isNew)
          continue;
        for (StringRef name : members)
          taken.insert(name);
        for (func::FuncOp other : programs)
          mark(other, members);
      }
  }

private:
  /// Whether a program has all members in this order, or none.
  static bool allowsPack(func::FuncOp program, const Members &members) {
    Members found;
    for (BlockArgument argument : program.getArguments())
      if (StringRef name = nameOf(program, argument.getArgNumber()); llvm::is_contained(members, name))
        found.push_back(name);
    return found.empty() || found == members;
  }

  static void mark(func::FuncOp program, const Members &members) {
    auto name = StringAttr::get(program.getContext(), packName(members));
    for (BlockArgument argument : program.getArguments())
      if (llvm::is_contained(members, nameOf(program, argument.getArgNumber())))
        program.setArgAttr(argument.getArgNumber(), exec::kPack, name);
  }
};
} // namespace
