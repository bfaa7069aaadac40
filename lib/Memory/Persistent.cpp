//===- Persistent.cpp - tensors that live across programs -----------------===//

#include "lib/Memory/Persistent.h"
#include "dialects/Comm/Comm.h"
#include "dialects/TG/ProgramSignature.h"
#include "lib/Memory/Categories.h"
#include "lib/Memory/Packs.h"
#include "lib/Memory/ZeroRows.h"
#include <map>

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

static LogicalResult emitShardMismatch(const PersistentTensor &known, func::FuncOp program, DictionaryAttr part) {
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
                                 << ", but another program has it in the memory of the "
                                 << (known.isOnHost ? "host" : "device");
  if (isSame && known.pack == packOf(argument))
    return success();
  if (isSame)
    return program.emitOpError()
           << "has '" << known.name
           << "' in another pack than another program; run no pass that changes arguments after exec-form-packs";
  if (known.part != part)
    return emitShardMismatch(known, program, part);
  InFlightDiagnostic diagnostic = program.emitOpError()
                                  << "has '" << known.name << "' as " << argument.getType() << " " << value
                                  << ", but another program has it as " << known.type << " " << known.value;
  diagnostic.attachNote(known.argument.getLoc()) << "the other program names it here";
  return diagnostic;
}

StringRef braid::nameOf(exec::TensorOp tensor) {
  if (auto param = dyn_cast<tg::ParamAttr>(tensor.getValue()))
    return param.getName();
  auto state = dyn_cast<tg::StateAttr>(tensor.getValue());
  return state ? StringRef(state.getName()) : tensor.getSymName();
}

StringRef braid::nameOf(func::FuncOp program, unsigned argument) {
  StringAttr name = tg::ArgumentAttrs(program, argument).persistentName();
  return name ? name.getValue() : StringRef();
}

StringAttr braid::slotsOf(func::FuncOp program, unsigned argument) {
  auto slots = program.getArgAttrOfType<FlatSymbolRefAttr>(argument, exec::kSlots);
  return slots ? slots.getAttr() : StringAttr();
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

/// Returns the order of tensors by name, before programs were cut into stages; empty without stages.
static llvm::StringMap<unsigned> orderOfPipeline(ModuleOp module) {
  llvm::StringMap<unsigned> order;
  for (auto pipeline : module.getOps<comm::PipelineOp>())
    if (auto names = pipeline->getAttrOfType<ArrayAttr>(comm::kTensorOrder))
      for (auto [number, name] : llvm::enumerate(names.getAsRange<StringAttr>()))
        order[name] = number;
  return order;
}

/// Sorts by category, and puts the tensors of a pack after its first.
void PersistentTensors::sort(ModuleOp module) {
  DenseMap<StringAttr, unsigned> firstOf;
  llvm::StringMap<unsigned> order = orderOfPipeline(module);
  auto keyOf = [&](const PersistentTensor &tensor) {
    auto known = order.find(tensor.name);
    unsigned number = known != order.end() ? known->second : order.size() + byName.lookup(tensor.name);
    return std::pair(tensor.category, tensor.pack ? firstOf.try_emplace(tensor.pack, number).first->second : number);
  };
  // A pack has the number of its first tensor, so the tensors are read in order.
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
    llvm::StringMap<unsigned> argumentOf;
    for (BlockArgument argument : program.getArguments()) {
      tg::ArgumentAttrs attributes(argument);
      Attribute value = attributes.persistent();
      if (!value)
        continue;
      StringRef name = attributes.persistentName();
      exec::Category category =
          categoryOf(attributes.parameter ? attributes.parameter.getKind() : attributes.state.getKind());
      DictionaryAttr part = partIn(program.getArgAttrDict(argument.getArgNumber()));
      if (auto [first, isNew] = argumentOf.try_emplace(name, argument.getArgNumber()); !isNew)
        return program.emitOpError() << "has '" << name << "' as argument " << first->second
                                     << " and again as argument " << argument.getArgNumber();
      auto [known, isNew] = result.byName.try_emplace(name, result.tensors.size());
      if (!isNew) {
        PersistentTensor &tensor = result.tensors[known->second];
        if (failed(agree(tensor, program, argument, value, part)))
          return failure();
        tensor.holders = comm::unionOf(program, tensor.holders, comm::rankSubsetOf(program));
        continue;
      }
      auto type = cast<RankedTensorType>(argument.getType());
      int64_t bytes = type.getNumElements() * elementBytes(type.getElementType());
      result.tensors.push_back({name.str(), category, type, value, part, comm::rankSubsetOf(program), bytes, 0,
                                argument, packOf(argument), isOnHost(program, argument.getArgNumber()),
                                slotsOf(program, argument.getArgNumber())});
    }
  }
  if (programs.empty())
    return result;
  auto module = programs.front()->getParentOfType<ModuleOp>();
  if (failed(result.findSlots(module)))
    return failure();
  result.reserveZeroRows(programs, rowAlignment);
  result.sort(module);
  result.place(programs, alignment);
  return result;
}

LogicalResult PersistentTensors::findSlots(ModuleOp module) {
  for (auto op : module.getOps<exec::SlotsOp>())
    slots[op.getSymNameAttr()] = {static_cast<int64_t>(op.getCount())};
  for (const PersistentTensor &tensor : tensors)
    if (tensor.slots && !slots.contains(tensor.slots))
      return emitError(tensor.argument.getLoc())
             << "'" << tensor.name << "' lies in the slots " << tensor.slots << ", which the module does not have";
  return success();
}

namespace {
/// End of the memory of each kind of ranks: ranks with the same coordinate along the axis of a pipeline, or all ranks.
class Ends {
public:
  explicit Ends(ArrayRef<func::FuncOp> programs) {
    for (func::FuncOp program : programs)
      if (comm::ProgramAttr ranks = comm::rankSubsetOf(program))
        for (int64_t at : ranks.getCoordinates())
          ofKinds[at] = 0;
    if (ofKinds.empty())
      ofKinds[0] = 0;
  }
  int64_t of(comm::ProgramAttr holders) const {
    int64_t end = 0;
    for (auto [at, rankEnd] : ofKinds)
      if (!holders || llvm::is_contained(holders.getCoordinates(), at))
        end = std::max(end, rankEnd);
    return end;
  }
  void set(comm::ProgramAttr holders, int64_t end) {
    for (auto &[at, rankEnd] : ofKinds)
      if (!holders || llvm::is_contained(holders.getCoordinates(), at))
        rankEnd = end;
  }
  bool areShared(comm::ProgramAttr holders) const {
    return ofKinds.size() > 1 && (!holders || holders.getCoordinates().size() > 1);
  }

private:
  std::map<int64_t, int64_t> ofKinds;
};
} // namespace

/// Places tensors that several kinds of ranks hold first, because they have the same place on all
/// of them. Then come tensors of one kind, slots, and caches, which only some programs have.
void PersistentTensors::place(ArrayRef<func::FuncOp> programs, int64_t alignment) {
  Ends inArena(programs), onHost(programs);
  auto add = [&](PersistentTensor &tensor) {
    Ends &ends = tensor.isOnHost ? onHost : inArena;
    tensor.offset = ends.of(tensor.holders);
    ends.set(tensor.holders, llvm::alignTo(tensor.offset + tensor.bytes, alignment));
  };
  auto isCache = [](const PersistentTensor &tensor) { return tensor.category == exec::Category::Caches; };
  for (bool shared : {true, false})
    for (PersistentTensor &tensor : tensors)
      if (!tensor.slots && !isCache(tensor) && inArena.areShared(tensor.holders) == shared)
        add(tensor);
  for (auto &[symbol, range] : slots) {
    comm::ProgramAttr holders;
    for (PersistentTensor &tensor : tensors) {
      if (tensor.slots != symbol)
        continue;
      if (range.bytes == 0)
        range.offset = inArena.of(holders = tensor.holders);
      tensor.offset = range.offset + range.bytes;
      range.bytes = llvm::alignTo(range.bytes + tensor.bytes, alignment);
    }
    if (range.bytes)
      inArena.set(holders, range.end());
  }
  for (PersistentTensor &tensor : tensors)
    if (isCache(tensor))
      add(tensor);
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
  // Programs without caches reuse the memory of caches, and programs that are not cells of a pipeline reuse slots.
  bool isCell = program->hasAttr(comm::CommDialect::kCell);
  int64_t end = 0;
  for (const PersistentTensor &tensor : tensors) {
    if (tensor.isOnHost != onHost || !comm::shareRanks(tensor.holders, comm::rankSubsetOf(program)))
      continue;
    if (tensor.slots ? !isCell : tensor.category == exec::Category::Caches && !has(tensor.name))
      continue;
    int64_t tensorEnd = tensor.slots ? slots.find(tensor.slots)->second.end() : tensor.offset + tensor.bytes;
    end = std::max<int64_t>(end, llvm::alignTo(tensorEnd, alignment));
  }
  return end;
}
