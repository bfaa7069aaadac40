//===- PlaceTable.h - declarations of constants that name places -*- C++ -*-===//
//
// A place is a range of bytes with the name of a tensor. User-defined names become identifiers of letters, digits and
// underscores. They are unique and differ from all other names in the generated code.
//
// Places whose names differ only in the number of the layer share an array, which the layer indexes:
// "h.3.ln_2.normed" is `h_ln_2_normed[3]`. The comment of a declaration states bytes, category and live range, for an
// array once if they are equal in all layers. A place that a tensor takes over from another one is declared equal to
// it.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_COMPILER_CODEGEN_PLACETABLE_H
#define BRAID_COMPILER_CODEGEN_PLACETABLE_H

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace braid::codegen {

struct Place {
  std::string name;
  int64_t offset, bytes;
  llvm::StringRef category;
  /// First and last action that use it; no value for tensors that live across programs. A place that takes over has no
  /// last action.
  std::optional<int64_t> first, last = {};
  bool isOnHost = false;
  int takenOver = -1; // index of the place with the same offset before
};

class PlaceTable {
public:
  PlaceTable() = default;
  /// Names the places, in the order of their declarations. Adds the identifiers to `taken`.
  PlaceTable(std::vector<Place> places, llvm::StringSet<> &taken);
  /// Returns the constant: "x", "h_ln_2_normed[3]".
  const std::string &operator[](unsigned place) const { return texts[place]; }
  const Place &at(unsigned place) const { return places[place]; }
  std::string declarations() const;
  /// Returns whether an array has layers without the tensor, whose place is `none`.
  bool hasGaps() const;

private:
  struct Array {
    std::string identifier;
    std::map<unsigned, unsigned> byLayer; // places
    unsigned first;                       // place in the order of declarations
    unsigned size() const { return byLayer.rbegin()->first + 1; }
  };
  std::string declare(unsigned place, size_t width) const;
  std::string declare(const Array &array) const;
  const Array *takenOverBy(const Array &array) const;
  std::string declareAll(bool onHost) const;

  std::vector<Place> places;
  std::vector<std::string> texts;
  std::vector<int> arrayOf; // of each place; -1 for a place alone
  std::vector<Array> arrays;
};

/// Adds a name as an identifier that differs from those in `taken`, and returns it.
std::string addIdentifier(llvm::StringRef name, llvm::StringSet<> &taken);

} // namespace braid::codegen

#endif // BRAID_COMPILER_CODEGEN_PLACETABLE_H
