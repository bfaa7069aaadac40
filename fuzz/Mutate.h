//===- Mutate.h - inputs that are nearly right ------------------*- C++ -*-===//
//
// Almost valid inputs get further than noise. Texts are mutated by tokens, lines and brackets, with pieces of other
// texts of the same kind. Files with a header mostly keep their form.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_FUZZ_MUTATE_H
#define BRAID_FUZZ_MUTATE_H

#include "fuzz/Random.h"
#include <array>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace braid::fuzz {

using Texts = std::vector<std::string>;

/// Kind of a token. A token is replaced by one of the same kind.
enum class Kind { Name, Number, String, Space, Sign };

struct Token {
  Kind kind;
  std::string text;
};

/// `tensor<4x8xf32>` is `tensor`, `<`, `4`, `x`, `8`, `x`, `f32`, `>`.
std::vector<Token> tokensOf(std::string_view text);

/// The tokens and lines of some texts.
class Pool {
public:
  void add(std::string_view text);
  std::string token(Random &random, Kind kind) const;
  std::string line(Random &random) const;

private:
  static constexpr size_t kLines = 5;
  void add(size_t list, std::string text);

  std::array<Texts, kLines + 1> lists; // tokens by kind, and lines; each once
  std::array<std::set<std::string, std::less<>>, kLines + 1> known;
};

/// Returns a number that often exposes faults, or one close to `was`.
std::string oddNumber(Random &random, const std::string &was);

/// Removes lines, and ends of lines, that begin with `mark`.
std::string withoutComments(const std::string &text, std::string_view mark);

/// A few changes of the text.
std::string mutateText(Random &random, std::string text, const Pool &pool);

/// A few bytes replaced, left out or repeated.
std::string mutateBytes(Random &random, std::string bytes);

/// A safetensors file with another header, or with other bytes anywhere.
std::string mutateSafetensors(Random &random, const std::string &file, const Pool &pool);

/// A file of numbers, `width` bytes each, some of them odd.
std::string mutateNumbers(Random &random, std::string bytes, size_t width, size_t reach);

/// A command line with some words changed, left out, repeated or moved, or with words of
/// `others`.  No word leads out of the folder.
Texts mutateWords(Random &random, Texts words, const Texts &others, const Pool &pool);

} // namespace braid::fuzz

#endif // BRAID_FUZZ_MUTATE_H
