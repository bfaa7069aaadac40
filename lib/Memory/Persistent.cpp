//===- Persistent.cpp - tensors that live across programs -----------------===//

#include "lib/Memory/Persistent.h"
#include "dialects/Comm/Comm.h"
#include "lib/Memory/Categories.h"
#include "lib/Memory/Packs.h"
#include "lib/Memory/ZeroRows.h"

using namespace mlir;
using namespace braid;

DictionaryAttr braid::partIn(DictionaryAttr attributes) {
  NamedAttrList part;
  if (attributes)
    for (NamedAttribute attribute : attributes)
      if (isa_and_present<comm::CommDialect>(attribute.getNameDialect()))
        part.append(attribute);
  return part.empty() ? DictionaryAttr() : part.getDictionary(attributes.getContext());
}

static LogicalResult disagreeOnPart(const PersistentTensor &known, func::FuncOp program, DictionaryAttr part) {
  auto print = [](Diagnostic &diagnostic, DictionaryAttr part) {
    if (part)
      diagnostic << "the part " << part;
    else
      diagnostic << "a whole";
  };
  InFlightDiagnostic diagnostic = program.emitOpError() << "has '" << known.name << "' as ";
  print(*diagnostic.getUnderlyingDiagnostic(), part);
  diagnostic << ", but another program has it as ";
  print(*diagnostic.getUnderlyingDiagnostic(), known.part);
  diagnostic.attachNote(known.argument.getLoc()) << "the other program names it here";
  return diagnostic;
}

static LogicalResult agree(const PersistentTensor &known, func::FuncOp program, BlockArgument argument, Attribute value,
                           DictionaryAttr part) {
  bool isSame = known.type == argument.getType() && known.value == value && known.part == part;
  if (isSame && known.isOnHost != isOnHost(program, argument.getArgNumber()))
    return program.emitOpError() << "has '" << known.name << "' in the memory of the "
                                 << (known.isOnHost ? "device" : "host")
                                 << ", but another program has it in that of the "
                                 << (known.isOnHost ? "host" : "device");
  if (isSame && known.pack == packOf(argument))
    return success();
  if (isSame)
    return program.emitOpError() << "has '" << known.name << "' in another pack than another program has: run nothing "
                                 << "that changes arguments after exec-form-packs";
  if (known.part != part)
    return disagreeOnPart(known, program, part);
  InFlightDiagnostic diagnostic = program.emitOpError()
                                  << "has '" << known.name << "' as " << argument.getType() << " " << value
                                  << ", but another program has it as " << known.type << " " << known.value;
  diagnostic.attachNote(known.argument.getLoc()) << "the other program names it here";
  return diagnostic;
}

StringRef braid::nameOf(func::FuncOp program, unsigned argument) {
  if (auto param = program.getArgAttrOfType<tg::ParamAttr>(argument, tg::kParam))
    return param.getName();
  auto state = program.getArgAttrOfType<tg::StateAttr>(argument, tg::kState);
  return state ? state.getName().getValue() : StringRef();
}

bool braid::isOnHost(func::FuncOp program, unsigned argument) {
  return static_cast<bool>(program.getArgAttr(argument, exec::kHost));
}

void PersistentTensors::reserveZeroRows(ArrayRef<func::FuncOp> programs, int64_t rowAlignment) {
  llvm::StringMap<int64_t> zeros;
  for (func::FuncOp program : programs)
    for (auto matmul : program.getOps<exec::MatmulOp>()) {
      std::optional<unsigned> operand = operandOfColumns(matmul);
      auto argument = operand ? dyn_cast<BlockArgument>(matmul->getOperand(*operand)) : BlockArgument();
      StringRef name = argument ? nameOf(program, argument.getArgNumber()) : "";
      if (!name.empty())
        zeros[name] = std::max(zeros[name], zeroBytesBehind(matmul, *operand, rowAlignment));
    }
  for (PersistentTensor &tensor : tensors)
    if (!tensor.pack)
      tensor.bytes += zeros.lookup(tensor.name);
}

/// By category, and the tensors of a pack behind its first.
void PersistentTensors::sort() {
  DenseMap<StringAttr, unsigned> firstOf;
  auto keyOf = [&](const PersistentTensor &tensor) {
    unsigned number = byName.lookup(tensor.name);
    return std::pair(tensor.category, tensor.pack ? firstOf.try_emplace(tensor.pack, number).first->second : number);
  };
  // Numbers of packs are those of their first tensors, so they are read in order.
  SmallVector<std::pair<decltype(keyOf(tensors[0])), PersistentTensor>> keyed;
  for (PersistentTensor &tensor : tensors)
    keyed.push_back({keyOf(tensor), std::move(tensor)});
  llvm::stable_sort(keyed, [](const auto &a, const auto &b) { return a.first < b.first; });
  for (auto [index, entry] : llvm::enumerate(keyed)) {
    tensors[index] = std::move(entry.second);
    byName[tensors[index].name] = index;
  }
}

FailureOr<PersistentTensors> PersistentTensors::collect(ArrayRef<func::FuncOp> programs, int64_t alignment,
                                                        int64_t rowAlignment) {
  PersistentTensors result;
  for (func::FuncOp program : programs) {
    llvm::StringMap<unsigned> here;
    for (BlockArgument argument : program.getArguments()) {
      auto param = program.getArgAttrOfType<tg::ParamAttr>(argument.getArgNumber(), tg::kParam);
      auto state = program.getArgAttrOfType<tg::StateAttr>(argument.getArgNumber(), tg::kState);
      if (!param && !state)
        continue;
      StringRef name = param ? param.getName() : state.getName();
      exec::Category category = categoryOf(param ? param.getKind() : state.getKind());
      Attribute value = param ? Attribute(param) : Attribute(state);
      DictionaryAttr part = partIn(program.getArgAttrDict(argument.getArgNumber()));
      if (auto [first, isNew] = here.try_emplace(name, argument.getArgNumber()); !isNew)
        return program.emitOpError() << "has '" << name << "' as argument " << first->second
                                     << " and again as argument " << argument.getArgNumber();
      auto [known, isNew] = result.byName.try_emplace(name, result.tensors.size());
      if (!isNew) {
        PersistentTensor &tensor = result.tensors[known->second];
        if (failed(agree(tensor, program, argument, value, part)))
          return failure();
        if (tensor.holders != comm::someRanksOf(program))
          tensor.holders = {};
        continue;
      }
      auto type = cast<RankedTensorType>(argument.getType());
      int64_t bytes = type.getNumElements() * elementBytes(type.getElementType());
      result.tensors.push_back({name.str(), category, type, value, part, comm::someRanksOf(program), bytes, 0, argument,
                                packOf(argument), isOnHost(program, argument.getArgNumber())});
    }
  }
  result.reserveZeroRows(programs, rowAlignment);
  result.sort();
  int64_t ends[2] = {0, 0}; // in the arena, and on the host
  for (PersistentTensor &tensor : result.tensors) {
    int64_t &end = ends[tensor.isOnHost];
    tensor.offset = end;
    end = llvm::alignTo(end + tensor.bytes, alignment);
  }
  return result;
}

int64_t PersistentTensors::bytesBelow(func::FuncOp program, int64_t alignment) const {
  return endBelow(program, alignment, /*onHost=*/false);
}

int64_t PersistentTensors::hostBytesBelow(func::FuncOp program, int64_t alignment) const {
  return endBelow(program, alignment, /*onHost=*/true);
}

int64_t PersistentTensors::endBelow(func::FuncOp program, int64_t alignment, bool onHost) const {
  auto has = [&](StringRef name) {
    return llvm::any_of(llvm::seq(program.getNumArguments()),
                        [&](unsigned argument) { return nameOf(program, argument) == name; });
  };
  // Caches come last, and programs that do not have them use their memory for other things.
  for (const PersistentTensor &tensor : llvm::reverse(tensors))
    if (tensor.isOnHost == onHost && comm::shareRanks(tensor.holders, comm::someRanksOf(program)) &&
        (tensor.category != exec::Category::Caches || has(tensor.name)))
      return llvm::alignTo(tensor.offset + tensor.bytes, alignment);
  return 0;
}
