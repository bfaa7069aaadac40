//===- Persistent.cpp - tensors that live across programs -----------------===//

#include "lib/Memory/Persistent.h"
#include "dialects/Comm/Comm.h"
#include "lib/Memory/Categories.h"

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
  if (known.type == argument.getType() && known.value == value && known.part == part)
    return success();
  if (known.part != part)
    return disagreeOnPart(known, program, part);
  InFlightDiagnostic diagnostic = program.emitOpError()
                                  << "has '" << known.name << "' as " << argument.getType() << " " << value
                                  << ", but another program has it as " << known.type << " " << known.value;
  diagnostic.attachNote(known.argument.getLoc()) << "the other program names it here";
  return diagnostic;
}

FailureOr<PersistentTensors> PersistentTensors::collect(ArrayRef<func::FuncOp> programs, int64_t alignment) {
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
      result.tensors.push_back(
          {name.str(), category, type, value, part, comm::someRanksOf(program), bytes, 0, argument});
    }
  }
  llvm::stable_sort(result.tensors,
                    [](const PersistentTensor &a, const PersistentTensor &b) { return a.category < b.category; });
  int64_t end = 0;
  for (auto [index, tensor] : llvm::enumerate(result.tensors)) {
    result.byName[tensor.name] = index;
    tensor.offset = end;
    end = llvm::alignTo(end + tensor.bytes, alignment);
  }
  return result;
}

int64_t PersistentTensors::bytesBelow(func::FuncOp program, int64_t alignment) const {
  for (const PersistentTensor &tensor : llvm::reverse(tensors))
    if (comm::shareRanks(tensor.holders, comm::someRanksOf(program)))
      return llvm::alignTo(tensor.offset + tensor.bytes, alignment);
  return 0;
}
