//===- Settings.h - the settings of a config.json ---------------*- C++ -*-===//
//
// Reads the settings of one JSON object, checks their types and ranges, and remembers the
// first thing that is wrong.  It knows which settings were asked for, so the others, which
// may change the model, are refused at the end.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_MODEL_SETTINGS_H
#define BRAID_LIB_MODEL_SETTINGS_H

#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"
#include <string>

namespace braid {

class Settings {
public:
  Settings(const llvm::json::Object &object, std::string where) : object(object), where(std::move(where)) {}

  /// Values that are absent or null stay what they are.
  void read(llvm::StringRef key, int64_t &value, int64_t most = 1 << 24, int64_t least = 1);
  void read(llvm::StringRef key, double &value, double least, double below);
  void read(llvm::StringRef key, bool &value);
  /// Reads one number under either of two names; both may be there if they agree.
  void readEither(llvm::StringRef key, llvm::StringRef alias, int64_t &value, int64_t most = 1 << 24);
  /// Null stands for 0: there is none.
  void readOrNone(llvm::StringRef key, int64_t &value);
  void readOrNone(llvm::StringRef key, double &value, double least, double below);
  /// The op that an activation function's Hugging Face name stands for.
  void readActivation(llvm::StringRef key, std::string &op);

  /// Refuses a setting unless it is absent, null or equal to `expected`.
  void refuseUnless(llvm::StringRef key, const llvm::json::Value &expected);
  /// Settings that may say anything.
  void ignore(llvm::ArrayRef<llvm::StringLiteral> keys);

  /// The value of a setting; null if it is absent or null.
  const llvm::json::Value *find(llvm::StringRef key);
  /// Whether it is there and not null, without asking for it.
  bool has(llvm::StringRef key) const;
  bool isNull(llvm::StringRef key) const;

  void check(bool condition, const llvm::Twine &message) {
    if (!condition)
      fail(message);
  }
  void fail(const llvm::Twine &message) {
    if (error.empty())
      error = (where + ": " + message).str();
  }

  /// What was wrong first, and at the end whatever nobody asked for.
  llvm::Error finish();
  /// The same of settings inside of these.
  void finish(Settings &inner) {
    if (llvm::Error problem = inner.finish()) {
      std::string text = toString(std::move(problem));
      error = error.empty() ? text : error;
    }
  }

  /// What messages begin with: the file, and the setting that the object is the value of.
  const std::string &place() const { return where; }
  static std::string text(const llvm::json::Value &value);

private:
  const llvm::json::Object &object;
  std::string where, error;
  llvm::StringSet<> known;
};

} // namespace braid

#endif // BRAID_LIB_MODEL_SETTINGS_H
