//===- MainText.cpp - main, or what takes its place in a library ----------===//

#include "compiler/Codegen/MainText.h"

using namespace llvm;
using namespace braid;

std::string codegen::mainText(const codegen::StepEmitter &emitter, bool manyRanks) {
  std::string text =
      "// Registers what the program is linked with.\nstatic void use_libraries() {\n" + emitter.mainCalls.str();
  SmallVector<StringRef> transports;
  if (manyRanks)
    emitter.transports.split(transports, ' ');
  for (StringRef name : transports)
    text += "#ifdef BRAID_WITH_" + name.upper() + "\n  br_use_" + name.str() + "();\n#endif\n";
  return text + R"cpp(}

#ifdef BRAID_LIBRARY
const br_model *br_library_model(void) {
  static const bool used = (use_libraries(), true);
  return used ? &model : nullptr;
}
#else
int main(int argc, char **argv) {
  br_limit_spinning(argv);
  use_libraries();
  return br_main(argc, argv, &model);
}
#endif
)cpp";
}
