//===- Mutate.cpp - inputs that are nearly right --------------------------===//

#include "fuzz/Mutate.h"
#include <algorithm>
#include <cctype>
#include <cstring>

using namespace braid::fuzz;

//===----------------------------------------------------------------------===//
// Tokens
//===----------------------------------------------------------------------===//

static bool isDigit(char c) { return c >= '0' && c <= '9'; }
static bool isSpace(char c) { return std::isspace(static_cast<unsigned char>(c)); }
static bool isOfName(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '$' || c == '.' || c == '-';
}

template <class Is> static size_t endOf(std::string_view text, size_t at, const Is &is) {
  while (at < text.size() && is(text[at]))
    ++at;
  return at;
}

/// Returns the end and the kind of the token that begins at `at`.
static std::pair<size_t, Kind> scan(std::string_view text, size_t at) {
  char c = text[at];
  if (isSpace(c))
    return {endOf(text, at, isSpace), Kind::Space};
  if (c == '"') {
    size_t end = at + 1;
    while (end < text.size() && text[end] != '"' && text[end] != '\n')
      end += text[end] == '\\' ? 2 : 1;
    return {std::min(end + 1, text.size()), Kind::String};
  }
  if (isDigit(c)) {
    size_t end = endOf(text, at, [](char d) { return isDigit(d) || d == '.'; });
    if (end + 1 < text.size() && text[end] == 'e' && (isDigit(text[end + 1]) || text[end + 1] == '-'))
      end = endOf(text, end + 2, isDigit);
    return {end, Kind::Number};
  }
  if (c == 'x' && at + 1 < text.size() && at > 0 && (isDigit(text[at - 1]) || text[at - 1] == '?'))
    return {at + 1, Kind::Sign}; // between the sizes of a shape
  if (isOfName(c) && c != '-')
    return {endOf(text, at, isOfName), Kind::Name};
  if (std::strchr("%@#!^", c) && at + 1 < text.size() && isOfName(text[at + 1]))
    return {endOf(text, at + 1, isOfName), Kind::Name};
  return {at + 1, Kind::Sign};
}

std::vector<Token> braid::fuzz::tokensOf(std::string_view text) {
  std::vector<Token> tokens;
  for (size_t at = 0; at < text.size();) {
    auto [end, kind] = scan(text, at);
    tokens.push_back({kind, std::string(text.substr(at, end - at))});
    at = end;
  }
  return tokens;
}

static Texts linesOf(std::string_view text) {
  Texts lines;
  for (size_t at = 0; at < text.size();) {
    size_t end = std::min(text.find('\n', at), text.size() - 1) + 1;
    lines.emplace_back(text.substr(at, end - at));
    at = end;
  }
  return lines;
}

template <class Pieces, class Text> static std::string join(const Pieces &pieces, const Text &textOf) {
  std::string text;
  for (const auto &piece : pieces)
    text += textOf(piece);
  return text;
}
static std::string join(const Texts &lines) {
  return join(lines, [](const std::string &line) -> auto & { return line; });
}
static std::string join(const std::vector<Token> &tokens) {
  return join(tokens, [](const Token &token) -> auto & { return token.text; });
}

void Pool::add(size_t list, std::string text) {
  if (known[list].insert(text).second)
    lists[list].push_back(std::move(text));
}

void Pool::add(std::string_view text) {
  for (Token &token : tokensOf(text))
    add(static_cast<size_t>(token.kind), std::move(token.text));
  for (std::string &line : linesOf(text))
    add(kLines, std::move(line));
}

std::string Pool::token(Random &random, Kind kind) const {
  const Texts &texts = lists[static_cast<size_t>(kind)];
  return texts.empty() ? "" : random.pick(texts);
}

std::string Pool::line(Random &random) const { return lists[kLines].empty() ? "" : random.pick(lists[kLines]); }

//===----------------------------------------------------------------------===//
// Changes
//===----------------------------------------------------------------------===//

std::string braid::fuzz::oddNumber(Random &random, const std::string &was) {
  if (random.oneIn(3)) {
    uint64_t number = 0;
    for (char c : was)
      number = isDigit(c) ? number * 10 + (c - '0') : number;
    return std::to_string(random.pick<uint64_t>({number + 1, number - 1, number * 2, number / 2, number * 1000}));
  }
  return random.pick({"0",
                      "1",
                      "2",
                      "3",
                      "7",
                      "-1",
                      "-2",
                      "1031",
                      "65536",
                      "2147483647",
                      "2147483648",
                      "4294967295",
                      "4294967296",
                      "4611686018427387904",
                      "9223372036854775807",
                      "9223372036854775808",
                      "18446744073709551615",
                      "18446744073709551616",
                      "1000000000000000000000000000000",
                      "-9223372036854775808",
                      "0.5",
                      "-0.0",
                      "1e-300",
                      "1e999",
                      "nan",
                      "inf",
                      "0x10",
                      "?",
                      ""});
}

/// The piece between a bracket and its partner, or one token.
static std::pair<size_t, size_t> groupAt(const std::vector<Token> &tokens, size_t begin) {
  static constexpr std::string_view opening = "([{<", closing = ")]}>";
  int depth = 0;
  for (size_t at = begin; at < tokens.size(); ++at) {
    depth += tokens[at].text.size() == 1 && opening.find(tokens[at].text[0]) != opening.npos;
    depth -= tokens[at].text.size() == 1 && closing.find(tokens[at].text[0]) != closing.npos;
    if (depth <= 0)
      return {begin, at + 1};
  }
  return {begin, begin + 1};
}

/// Returns a token of the same kind. For names, it most likely has the same beginning and is from the same text.
static std::string replacement(Random &random, const std::vector<Token> &tokens, const Token &token, const Pool &pool) {
  if (token.kind == Kind::Number && !random.oneIn(4))
    return oddNumber(random, token.text);
  for (int tries = 0; tries < 20 && random.below(3); ++tries)
    if (const Token &other = random.pick(tokens); other.kind == token.kind && other.text[0] == token.text[0])
      return other.text;
  return pool.token(random, token.kind);
}

/// Replaces all occurrences of a token, such as a size in all types that must agree.
static void replaceAll(Random &random, std::vector<Token> &tokens, Token token, const Pool &pool) {
  std::string text = replacement(random, tokens, token, pool);
  for (Token &each : tokens)
    if (each.kind == token.kind && each.text == token.text)
      each.text = text;
}

static void repeat(Random &random, std::vector<Token> &tokens, size_t begin, size_t end) {
  std::vector<Token> piece(tokens.begin() + begin, tokens.begin() + end);
  // Sometimes repeats so often that recursive code runs out of stack.
  size_t times = random.oneIn(64) ? 100000 / piece.size() : random.few();
  std::vector<Token> repeated;
  for (size_t i = 0; i < times; ++i)
    repeated.insert(repeated.end(), piece.begin(), piece.end());
  tokens.insert(tokens.begin() + begin, repeated.begin(), repeated.end());
}

static void changeTokens(Random &random, std::vector<Token> &tokens, const Pool &pool) {
  size_t at = random.below(tokens.size());
  auto isForm = [&] { return tokens[at].kind == Kind::Space || tokens[at].kind == Kind::Sign; };
  for (int tries = 0; tries < 6 && isForm(); ++tries) // what has another form is refused at once
    at = random.below(tokens.size());
  auto [begin, end] = groupAt(tokens, at);
  switch (random.below(12)) {
  case 0:
    tokens.erase(tokens.begin() + begin, tokens.begin() + end);
    break;
  case 1:
    tokens.erase(tokens.begin() + at, tokens.begin() + std::min(at + random.few(), tokens.size()));
    break;
  case 2:
    repeat(random, tokens, begin, end);
    break;
  case 3:
    std::swap(tokens[at], tokens[random.below(tokens.size())]);
    break;
  case 4:
    tokens.insert(tokens.begin() + at, {Kind::Name, pool.token(random, Kind(random.below(5)))});
    break;
  case 5:
    tokens[at].text = mutateBytes(random, tokens[at].text);
    break;
  case 6:
  case 7:
  case 8:
    replaceAll(random, tokens, tokens[at], pool);
    break;
  default:
    tokens[at].text = replacement(random, tokens, tokens[at], pool);
  }
}

static void changeLines(Random &random, Texts &lines, const Pool &pool) {
  size_t at = random.below(lines.size());
  switch (random.below(4)) {
  case 0:
    lines.erase(lines.begin() + at);
    break;
  case 1:
    lines.insert(lines.begin() + random.below(lines.size()), lines[at]);
    break;
  case 2:
    std::swap(lines[at], lines[random.below(lines.size())]);
    break;
  default:
    lines.insert(lines.begin() + at, pool.line(random));
  }
}

std::string braid::fuzz::withoutComments(const std::string &text, std::string_view mark) {
  std::string without;
  for (const std::string &line : linesOf(text))
    if (size_t end = line.find(mark); end == line.npos)
      without += line;
    else if (line.find_first_not_of(" ") < end)
      without += line.substr(0, end) + "\n";
  return without;
}

std::string braid::fuzz::mutateText(Random &random, std::string text, const Pool &pool) {
  for (size_t changes = random.few(); changes > 0 && !text.empty() && text.size() < (1 << 20); --changes) {
    if (random.oneIn(5)) {
      Texts lines = linesOf(text);
      changeLines(random, lines, pool);
      text = join(lines);
    } else {
      std::vector<Token> tokens = tokensOf(text);
      changeTokens(random, tokens, pool);
      text = join(tokens);
    }
  }
  return text;
}

std::string braid::fuzz::mutateBytes(Random &random, std::string bytes) {
  for (size_t changes = random.few(); changes > 0 && !bytes.empty(); --changes) {
    size_t at = random.below(bytes.size()), count = std::min(random.few(), bytes.size() - at);
    switch (random.below(5)) {
    case 0:
      bytes[at] = static_cast<char>(bytes[at] ^ (1 << random.below(8)));
      break;
    case 1:
      bytes[at] = static_cast<char>(random.next());
      break;
    case 2:
      bytes.erase(at, count);
      break;
    case 3:
      bytes.insert(at, bytes.substr(at, count));
      break;
    default:
      if (random.oneIn(4))
        bytes.resize(at);
      else
        bytes[at] = random.pick({'\0', '\n', '"', '\\', '/', '{', '[', '\xff', '\x80', '-', '9'});
    }
  }
  return bytes;
}

std::string braid::fuzz::mutateNumbers(Random &random, std::string bytes, size_t width, size_t reach) {
  for (size_t changes = random.few(); changes > 0; --changes) {
    uint64_t number = random.pick<uint64_t>({0, 1, 2, 255, 256, 65535, 65536, 0x7fffffff, 0x80000000, 0xffffffff,
                                             1ull << 32, 1ull << 62, ~0ull >> 1, ~0ull, random.next()});
    size_t places = std::min(reach, bytes.size()) / width;
    if (places)
      std::memcpy(bytes.data() + random.below(places) * width, &number, width);
  }
  return bytes;
}

std::string braid::fuzz::mutateSafetensors(Random &random, const std::string &file, const Pool &pool) {
  uint64_t length = 0;
  if (random.oneIn(6) || file.size() < 8)
    return mutateBytes(random, file);
  std::memcpy(&length, file.data(), 8);
  std::string header = mutateText(random, file.substr(8, length), pool),
              data = file.substr(std::min<size_t>(8 + length, file.size()));
  length = random.oneIn(8) ? random.next() >> random.below(64) : header.size();
  return std::string(reinterpret_cast<const char *>(&length), 8) + header +
         (random.oneIn(8) ? mutateBytes(random, data) : data);
}

Texts braid::fuzz::mutateWords(Random &random, Texts words, const Texts &others, const Pool &pool) {
  for (size_t changes = random.few(); changes > 0 && !words.empty(); --changes) {
    size_t at = random.below(words.size());
    switch (random.below(6)) {
    case 0:
      words.erase(words.begin() + at);
      break;
    case 1:
      words.insert(words.begin() + at, words[random.below(words.size())]);
      break;
    case 2:
      std::swap(words[at], words[random.below(words.size())]);
      break;
    case 3:
      words.insert(words.begin() + at, random.pick(others));
      break;
    default:
      words[at] = mutateText(random, words[at], pool);
    }
  }
  for (std::string &word : words) { // what no system takes cannot be given
    std::erase_if(word, [](char c) { return c == '\0' || c == '/'; });
    word.resize(std::min<size_t>(word.size(), 100000));
  }
  return words;
}
