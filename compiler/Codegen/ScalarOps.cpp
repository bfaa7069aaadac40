//===- ScalarOps.cpp - table of scalar ops in C++ -------------------------===//

#include "compiler/Codegen/ScalarOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace braid;
using namespace braid::codegen;

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

std::optional<Kind> codegen::kindOf(Type type) {
  if (type.isF32() || type.isBF16())
    return Kind::F32;
  if (type.isInteger(32) || type.isInteger(8) || type.isIndex())
    return Kind::I32;
  if (type.isInteger(64))
    return Kind::I64;
  if (type.isInteger(1))
    return Kind::I1;
  return std::nullopt;
}

StringRef codegen::registerType(Kind kind, bool lane) {
  switch (kind) {
  case Kind::F32:
    return lane ? "V" : "float";
  case Kind::I32:
    return lane ? "VI" : "int32_t";
  case Kind::I64:
    return lane ? "" : "int64_t";
  case Kind::I1:
    return lane ? "VM" : "bool";
  }
  llvm_unreachable("unknown kind");
}

StringRef codegen::memoryType(Type type) {
  if (type.isBF16())
    return "bf16";
  if (type.isInteger(8))
    return "int8_t";
  std::optional<Kind> kind = kindOf(type);
  return kind ? registerType(*kind, /*lane=*/false) : "";
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

namespace {
enum class Spelling {
  Infix,  // a + b
  Prefix, // -a
  Call,   // f(a, b)
};
struct Rule {
  StringLiteral op;
  Spelling form;
  StringLiteral text;
  bool expensive = false;
  /// Replaces `text` if the op allows an approximation.
  StringLiteral approximate = "";
};
} // namespace

static constexpr Rule rules[] = {
    {"arith.addf", Spelling::Infix, "+"},
    {"arith.subf", Spelling::Infix, "-"},
    {"arith.mulf", Spelling::Infix, "*"},
    {"arith.divf", Spelling::Infix, "/"},
    {"arith.negf", Spelling::Prefix, "-"},
    {"arith.maximumf", Spelling::Call, "maximum"},
    {"arith.minimumf", Spelling::Call, "minimum"},
    {"arith.maxnumf", Spelling::Call, "maxnum"},
    {"arith.minnumf", Spelling::Call, "minnum"},
    {"arith.addi", Spelling::Infix, "+"},
    {"arith.subi", Spelling::Infix, "-"},
    {"arith.muli", Spelling::Infix, "*"},
    {"arith.divsi", Spelling::Infix, "/"},
    {"arith.remsi", Spelling::Infix, "%"},
    {"arith.andi", Spelling::Infix, "&"},
    {"arith.ori", Spelling::Infix, "|"},
    {"arith.xori", Spelling::Infix, "^"},
    {"arith.shli", Spelling::Infix, "<<"},
    {"arith.shrsi", Spelling::Infix, ">>"},
    {"arith.maxsi", Spelling::Call, "maximum"},
    {"arith.minsi", Spelling::Call, "minimum"},
    {"math.absf", Spelling::Call, "abs"},
    {"math.absi", Spelling::Call, "abs"},
    {"math.floor", Spelling::Call, "floor"},
    {"math.ceil", Spelling::Call, "ceil"},
    {"math.sqrt", Spelling::Call, "sqrt"},
    {"math.rsqrt", Spelling::Call, "rsqrt"},
    {"math.fma", Spelling::Call, "fma"},
    {"math.copysign", Spelling::Call, "copysign"},
    {"math.exp", Spelling::Call, "exp", true, "exp_approx"},
    {"math.exp2", Spelling::Call, "exp2", true},
    {"math.expm1", Spelling::Call, "expm1", true},
    {"math.log", Spelling::Call, "log", true},
    {"math.log1p", Spelling::Call, "log1p", true},
    {"math.tanh", Spelling::Call, "tanh", true, "tanh_approx"},
    {"math.erf", Spelling::Call, "erf", true},
    {"math.sin", Spelling::Call, "sin", true},
    {"math.cos", Spelling::Call, "cos", true},
    {"math.powf", Spelling::Call, "pow", true},
};

/// Comparisons of floats. `$0 < $1` is false for NaN, so the unordered comparisons are the negations of their
/// opposites.
static constexpr StringLiteral floatComparisons[] = {
    /*false*/ "",
    /*oeq*/ "$0 == $1",
    /*ogt*/ "$0 > $1",
    /*oge*/ "$0 >= $1",
    /*olt*/ "$0 < $1",
    /*ole*/ "$0 <= $1",
    /*one*/ "($0 < $1) | ($0 > $1)",
    /*ord*/ "($0 == $0) & ($1 == $1)",
    /*ueq*/ "not_(($0 < $1) | ($0 > $1))",
    /*ugt*/ "not_($0 <= $1)",
    /*uge*/ "not_($0 < $1)",
    /*ult*/ "not_($0 >= $1)",
    /*ule*/ "not_($0 > $1)",
    /*une*/ "$0 != $1",
    /*uno*/ "($0 != $0) | ($1 != $1)",
    /*true*/ "",
};
static constexpr StringLiteral intComparisons[] = {
    /*eq*/ "$0 == $1",  /*ne*/ "$0 != $1", /*slt*/ "$0 < $1",
    /*sle*/ "$0 <= $1", /*sgt*/ "$0 > $1", /*sge*/ "$0 >= $1",
};

static const Rule *lookup(Operation *op) {
  static const llvm::StringMap<const Rule *> table = [] {
    llvm::StringMap<const Rule *> map;
    for (const Rule &rule : rules)
      map[rule.op] = &rule;
    return map;
  }();
  return table.lookup(op->getName().getStringRef());
}

bool codegen::isExpensive(Operation *op) {
  const Rule *rule = lookup(op);
  return op->getName().getStringRef() == "exec.random_uniform" || (rule && rule->expensive);
}

//===----------------------------------------------------------------------===//
// Printing
//===----------------------------------------------------------------------===//

static std::string substitute(StringRef pattern, ArrayRef<std::string> arguments) {
  std::string text;
  for (size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] == '$')
      text += arguments[pattern[++i] - '0'];
    else
      text += pattern[i];
  }
  return text;
}

/// Returns a conversion between the kinds of both sides; empty if there is none.
static std::string printCast(Operation *op, const Expr &x) {
  Type type = op->getResult(0).getType();
  std::optional<Kind> to = kindOf(type);
  StringRef name = op->getName().getStringRef();
  if (name == "arith.extf")
    return x.text;
  if (name == "arith.truncf" && type.isBF16())
    return "round_bf16(" + x.text + ")";
  if (name == "arith.sitofp" && x.kind != Kind::I1)
    return "to_float(" + x.text + ")";
  if (name == "arith.uitofp" && x.kind == Kind::I1)
    return "mask_to_float(" + x.text + ")";
  if (name == "arith.fptosi" && to == Kind::I32)
    return (type.isInteger(8) ? "to_int8(" : "to_int(") + x.text + ")";
  if (name == "arith.fptosi" && to == Kind::I64 && !x.lane)
    return "to_int64(" + x.text + ")";
  if (name == "arith.extui" && x.kind == Kind::I1 && to == Kind::I32)
    return "mask_to_int(" + x.text + ")";
  if (name == "arith.trunci" && to == Kind::I1)
    return "(" + x.text + " & 1) != 0";
  bool widthOnly = name == "arith.index_cast" || name == "arith.extsi" || name == "arith.trunci";
  if (widthOnly && to && x.kind == *to)
    return x.text;
  if (widthOnly && to && !x.lane && x.kind != Kind::I1)
    return "static_cast<" + registerType(*to, false).str() + ">(" + x.text + ")";
  return "";
}

static std::string printSelect(ArrayRef<Expr> operands, bool lane, StringRef lanes) {
  const Expr &condition = operands[0], &yes = operands[1], &no = operands[2];
  if (!lane)
    return condition.text + " ? " + yes.text + " : " + no.text;
  return "select(" + condition.text + ", " + yes.asLane(lanes) + ", " + no.asLane(lanes) + ")";
}

static std::string printComparison(StringRef pattern, ArrayRef<Expr> operands, StringRef lanes) {
  if (pattern.empty())
    return "";
  bool masks = operands[0].kind == Kind::I1 && (operands[0].lane || operands[1].lane);
  auto text = [&](const Expr &x) { return masks ? x.asLane(lanes) : x.text; };
  return substitute(pattern, {text(operands[0]), text(operands[1])});
}

static bool isApproximate(Operation *op) {
  auto math = dyn_cast<arith::ArithFastMathInterface>(op);
  return math && arith::bitEnumContainsAny(math.getFastMathFlagsAttr().getValue(), arith::FastMathFlags::afn);
}

/// Returns the op's computation in registers; its result may have more bits than its type.
static std::string printInRegisters(Operation *op, ArrayRef<Expr> operands, StringRef lanes) {
  bool lane = llvm::any_of(operands, [](const Expr &x) { return x.lane; });
  if (auto compare = dyn_cast<arith::CmpFOp>(op))
    return printComparison(floatComparisons[static_cast<size_t>(compare.getPredicate())], operands, lanes);
  if (auto compare = dyn_cast<arith::CmpIOp>(op)) {
    auto predicate = static_cast<size_t>(compare.getPredicate());
    return predicate < std::size(intComparisons) ? printComparison(intComparisons[predicate], operands, lanes) : "";
  }
  if (isa<arith::SelectOp>(op))
    return printSelect(operands, lane, lanes);

  const Rule *rule = lookup(op);
  if (!rule)
    return operands.size() == 1 ? printCast(op, operands[0]) : "";

  // The compiler broadcasts a number next to a lane value, but functions and masks need equal types.
  SmallVector<std::string> arguments;
  for (const Expr &x : operands) {
    bool widen = lane && (rule->form == Spelling::Call || x.kind == Kind::I1);
    arguments.push_back(widen ? x.asLane(lanes) : x.text);
  }
  switch (rule->form) {
  case Spelling::Infix:
    return arguments[0] + " " + rule->text.str() + " " + arguments[1];
  case Spelling::Prefix:
    return rule->text.str() + (arguments[0].front() == '-' ? "(" + arguments[0] + ")" : arguments[0]);
  case Spelling::Call:
    return (isApproximate(op) && !rule->approximate.empty() ? rule->approximate : rule->text).str() + "(" +
           llvm::join(arguments, ", ") + ")";
  }
  llvm_unreachable("unknown form");
}

std::string codegen::printScalarOp(Operation *op, ArrayRef<Expr> operands, StringRef lanes) {
  std::string text = printInRegisters(op, operands, lanes);
  bool isWhole = isa<arith::SelectOp>(op) || !op->getResult(0).getType().isInteger(8);
  return isWhole || text.empty() ? text : "wrap_int8(" + text + ")";
}
