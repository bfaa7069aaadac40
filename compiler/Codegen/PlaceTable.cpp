//===- PlaceTable.cpp - declarations of constants that name places ------------===//

#include "compiler/Codegen/PlaceTable.h"
#include "compiler/Codegen/CppText.h"
#include "llvm/ADT/STLExtras.h"
#include <tuple>

using namespace mlir;
using namespace braid;
using namespace braid::codegen;

//===----------------------------------------------------------------------===//
// Identifiers
//===----------------------------------------------------------------------===//

/// Returns whether generated code or the language uses the identifier. Names that the code calls end in `_kernel`,
/// begin like a function of the runtime or of a program, or are listed here.
static bool isReserved(StringRef name) {
  static const llvm::StringSet<> used = {
      "m",           "ctx",        "run",       "braid",        "bf16",    "Memory",   "Tuple",   "gather",
      "scatter_add", "axis_index", "put_range", "block_number", "kernels", "uint64_t", "int64_t", "none"};
  bool isMacro = name.size() > 1 && !llvm::any_of(name, llvm::isLower); // the C library writes macros in upper case
  return isWordOfCpp(name) || used.contains(name) || isMacro || name.ends_with("_kernel") || name.starts_with("br_") ||
         name.starts_with("launch") || name.starts_with("step_") || name.starts_with("run_") ||
         name.starts_with("copy_") || name.starts_with("take_") || name.starts_with("attention") ||
         name.starts_with("finish_") || name.starts_with("_") || name.contains("__") || name.contains("_table");
}

std::string codegen::addIdentifier(StringRef name, llvm::StringSet<> &taken) {
  constexpr size_t most = 100; // characters
  std::string text;
  for (char c : name.take_front(most))
    if (llvm::isAlnum(c))
      text += c;
    else if (!text.empty() && text.back() != '_')
      text += '_';
  while (!text.empty() && text.back() == '_')
    text.pop_back();
  if (text.empty() || llvm::isDigit(text.front()))
    text = "_" + text;
  if (isReserved(text))
    text = "place_" + StringRef(text).ltrim('_').str();
  std::string unique = text;
  for (unsigned number = 2; !taken.insert(unique).second; ++number)
    unique = text + "_" + std::to_string(number);
  return unique;
}

//===----------------------------------------------------------------------===//
// Layers
//===----------------------------------------------------------------------===//

namespace {
/// A name without the number of its layer, and the number.
struct LayerName {
  std::string pattern;
  unsigned layer;
};
} // namespace

/// Splits a name at its first part that is a number: "h.3.ln_2.normed" becomes "h.ln_2.normed" and 3.
static std::optional<LayerName> patternOf(StringRef name) {
  for (size_t dot = name.find('.'); dot != StringRef::npos; dot = name.find('.', dot + 1)) {
    StringRef digits = name.drop_front(dot + 1).take_while(llvm::isDigit),
              rest = name.drop_front(dot + 1 + digits.size());
    unsigned layer;
    bool isNumber = !digits.getAsInteger(10, layer) && (digits == "0" || !digits.starts_with("0"));
    if (isNumber && (rest.empty() || StringRef(".@#").contains(rest.front())))
      return LayerName{(name.take_front(dot) + rest).str(), layer};
  }
  return std::nullopt;
}

PlaceTable::PlaceTable(std::vector<Place> given, llvm::StringSet<> &taken)
    : places(std::move(given)), texts(places.size()), arrayOf(places.size(), -1) {
  std::map<std::tuple<std::string, int64_t, StringRef, bool>, unsigned> known;
  for (auto [index, place] : llvm::enumerate(places))
    if (std::optional<LayerName> name = patternOf(place.name)) {
      auto [array, isNew] =
          known.try_emplace({name->pattern, place.bytes, place.category, place.isOnHost}, arrays.size());
      if (isNew)
        arrays.push_back({name->pattern, {}, {}});
      arrays[array->second].byLayer.try_emplace(name->layer, index);
    }
  for (auto [number, array] : llvm::enumerate(arrays)) {
    constexpr size_t most = 16; // layers without the tensor, beside as many as have it
    if (array.byLayer.size() < 2 || array.size() > 2 * array.byLayer.size() + most)
      continue;
    array.identifier = addIdentifier(array.identifier, taken);
    array.first = places.size();
    for (auto [layer, place] : array.byLayer) {
      array.first = std::min(array.first, place);
      arrayOf[place] = number;
      texts[place] = array.identifier + "[" + std::to_string(layer) + "]";
    }
  }
  for (auto [place, text] : llvm::zip(places, texts))
    if (text.empty())
      text = addIdentifier(place.name, taken);
}

//===----------------------------------------------------------------------===//
// Declarations
//===----------------------------------------------------------------------===//

/// Returns "1 to 351", or "9 on" for a place that takes over; empty for tensors that live across programs.
static std::string lifeText(const Place &place) {
  if (!place.first)
    return "";
  std::string first = std::to_string(*place.first);
  return first + (place.last ? " to " + std::to_string(*place.last) : " on");
}

std::string PlaceTable::declare(unsigned index, size_t width) const {
  const Place &place = places[index];
  std::string value = place.takenOver < 0 ? std::to_string(place.offset) : texts[place.takenOver];
  std::string head = "inline constexpr uint64_t " + texts[index] + " = " + value + ";", life = lifeText(place);
  return head + std::string(width - std::min(width, head.size()), ' ') + " // " + std::to_string(place.bytes) +
         " bytes, " + place.category.str() + (life.empty() ? "" : ", actions " + life) + "\n";
}

/// Returns the array whose places this one takes over, layer by layer; null if there is none.
const PlaceTable::Array *PlaceTable::takenOverBy(const Array &array) const {
  int before = places[array.first].takenOver;
  if (before < 0 || arrayOf[before] < 0)
    return nullptr;
  const Array &other = arrays[arrayOf[before]];
  bool isSame = llvm::all_of(array.byLayer, [&](auto entry) {
    auto found = other.byLayer.find(entry.first);
    return found != other.byLayer.end() && int(found->second) == places[entry.second].takenOver;
  });
  return isSame ? &other : nullptr;
}

std::string PlaceTable::declare(const Array &array) const {
  const Place &first = places[array.first];
  std::string each = std::to_string(first.bytes) + " bytes each, " + first.category.str();
  if (const Array *before = takenOverBy(array))
    return "inline constexpr auto &" + array.identifier + " = " + before->identifier + "; // " + each + ", actions " +
           lifeText(places[array.byLayer.begin()->second]) + ", ..., " +
           lifeText(places[array.byLayer.rbegin()->second]) + "\n";
  constexpr size_t width = 4;
  std::string head = "inline constexpr uint64_t " + array.identifier + "[] = {";
  // A row has the places of several layers, the first of these layers, and their live ranges.
  std::string rows, values, lives;
  for (unsigned layer = 0; layer < array.size(); ++layer) {
    auto member = array.byLayer.find(layer);
    bool isNone = member == array.byLayer.end();
    values += (layer % width ? ", " : "") + (isNone ? "none" : std::to_string(places[member->second].offset));
    std::string life = isNone ? "-" : lifeText(places[member->second]);
    lives += (layer % width && first.first ? ", " : "") + (first.first ? life : "");
    if (layer + 1 < array.size() && (layer + 1) % width)
      continue;
    if (layer < width && layer + 1 == array.size())
      return head + values + "}; // " + each + (first.first ? ", actions " + lives : "") + "\n";
    rows +=
        "    " + values + ", // " + std::to_string(layer / width * width) + (first.first ? ": " : "") + lives + "\n";
    values.clear();
    lives.clear();
  }
  return head + " // " + each + (first.first ? ", actions" : "") + "\n" + rows + "};\n";
}

std::string PlaceTable::declareAll(bool onHost) const {
  auto isAlone = [&](unsigned index) { return places[index].isOnHost == onHost && arrayOf[index] < 0; };
  constexpr size_t most = 80; // columns
  size_t width = 0;
  for (unsigned index = 0; index < places.size(); ++index)
    if (isAlone(index))
      width = std::min(most, std::max(width, declare(index, 0).find(" //")));
  std::string text;
  for (auto [index, place] : llvm::enumerate(places))
    if (isAlone(index))
      text += declare(index, width);
    else if (place.isOnHost == onHost && arrays[arrayOf[index]].first == index)
      text += declare(arrays[arrayOf[index]]);
  return text;
}

bool PlaceTable::hasGaps() const {
  return llvm::any_of(arrayOf,
                      [&](int array) { return array >= 0 && arrays[array].size() > arrays[array].byLayer.size(); });
}

std::string PlaceTable::declarations() const {
  std::string host = declareAll(/*onHost=*/true);
  return declareAll(/*onHost=*/false) + (host.empty() ? "" : "\n// In pinned memory of the host.\n" + host);
}
