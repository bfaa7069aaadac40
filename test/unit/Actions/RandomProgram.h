//===- RandomProgram.h - programs of actions for tests ----------*- C++ -*-===//
#ifndef BRAID_TEST_UNIT_ACTIONS_RANDOMPROGRAM_H
#define BRAID_TEST_UNIT_ACTIONS_RANDOMPROGRAM_H

#include <algorithm>
#include <random>
#include <set>
#include <string>
#include <vector>

/// Writes a program of a rank: elementwise ops, matmuls, views, concats, reductions over two ranks, and at the end new
/// values of parameters.
class RandomProgram {
public:
  explicit RandomProgram(unsigned seed) : random(seed) {}

  std::string write(unsigned numOps, bool withConcats) {
    std::string arguments, values, types;
    for (std::string name : {"p0", "p1", "p2"}) {
      arguments += (whole.empty() ? "%" : ", %") + name + ": " + kWhole + " {tg.param = #tg.param<\"" + name +
                   "\", #tg.init<normal, 0.0, 1.0>>}";
      whole.push_back("%" + name);
    }
    whole.push_back(add("arith.addf %p0, %p1", kWhole));
    made.push_back(whole.back());
    while (numbers < numOps)
      addOp(withConcats);
    for (const std::string &value : std::vector<std::string>(unread))
      addResult(add("arith.negf " + value, typeOf(value)), "tg.output = \"" + value.substr(1) + "\"");
    for (std::string name : {"p0", "p1", "p2"})
      addResult(add("arith.addf %" + name + ", " + pick(made), kWhole), "tg.updates = \"" + name + "\"");
    for (const std::string &value : returned) {
      values += (values.empty() ? "" : ", ") + value;
      types += (types.empty() ? "" : ", ") + typeOf(value);
    }
    return "comm.mesh @mesh [dp = 2]\nfunc.func @f(" + arguments + ") -> (" + signature +
           ") attributes {comm.program = #comm.program<@mesh>} {\n" + text + "  return " + values + " : " + types +
           "\n}\n";
  }

private:
  static inline const std::string kWhole = "tensor<4x4xf32>", kHalf = "tensor<2x4xf32>";

  /// Adds a random op, unless an equal op exists: equal values would hide a read of the wrong value.
  void addOp(bool withConcats) {
    picked.clear();
    unsigned kind = random() % (half.size() < 2 ? 6 : withConcats ? 8 : 7);
    std::string op = kind == 0   ? "arith.divf " + pick(whole) + ", " + pick(whole)
                     : kind == 1 ? "arith.addf " + pick(whole) + ", " + pick(whole)
                     : kind == 2 ? "exec.matmul \"mk,kn->mn\"(" + pick(whole) + ", " + pick(whole) + ")"
                     : kind == 3 ? "comm.all_reduce sum " + pick(whole) + " over @mesh {dp}"
                     : kind == 4 ? "exec.view " + pick(whole) + " offset 0 strides [1, 4]"
                     : kind == 5
                         ? "exec.view " + pick(whole) + " offset " + (random() % 2 ? "0" : "8") + " strides [4, 1]"
                     : kind == 6 ? "arith.addf " + pick(half) + ", " + pick(half)
                                 : "exec.concat " + pick(half) + ", " + pick(half) + " dim 0";
    const std::string types[] = {kWhole,
                                 kWhole,
                                 kWhole + ", " + kWhole + " -> " + kWhole,
                                 "(" + kWhole + ") -> " + kWhole,
                                 kWhole + " -> " + kWhole,
                                 kWhole + " -> " + kHalf,
                                 kHalf,
                                 "(" + kHalf + ", " + kHalf + ") -> " + kWhole};
    bool repeats = (kind == 0 || kind == 7) && picked.front() == picked.back();
    if (repeats || !seen.insert(op).second)
      return;
    std::string name = add(op, types[kind]);
    (kind == 5 || kind == 6 ? half : whole).push_back(name);
    if (kind < 4)
      made.push_back(name);
  }

  std::string add(const std::string &op, const std::string &types) {
    for (const std::string &value : picked)
      std::erase(unread, value);
    std::string name = "%v" + std::to_string(numbers++);
    text += "  " + name + " = " + op + " : " + types + "\n";
    unread.push_back(name);
    return name;
  }

  void addResult(const std::string &value, const std::string &attribute) {
    signature += (returned.empty() ? "" : ", ") + typeOf(value) + " {" + attribute + "}";
    returned.push_back(value);
  }

  /// Prefers late values, so that chains get long.
  std::string pick(const std::vector<std::string> &values) {
    picked.push_back(values[std::max(random() % values.size(), random() % values.size())]);
    return picked.back();
  }

  std::string typeOf(const std::string &value) const {
    size_t line = text.find(value + " = ");
    return text.substr(text.find('\n', line) - kWhole.size(), kWhole.size());
  }

  std::mt19937 random;
  unsigned numbers = 0;
  std::string text, signature;
  /// Values by shape, the results of actions, and the operands of the op that is being written.
  std::vector<std::string> whole, half, made, picked;
  std::vector<std::string> unread, returned;
  std::set<std::string> seen;
};

#endif // BRAID_TEST_UNIT_ACTIONS_RANDOMPROGRAM_H
