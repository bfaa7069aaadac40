//===- OptimizerText.h - text of an optimizer in checkpoints ----*- C++ -*-===//
#ifndef BRAID_COMPILER_DRIVER_OPTIMIZERTEXT_H
#define BRAID_COMPILER_DRIVER_OPTIMIZERTEXT_H

#include "compiler/Driver/Options.h"

namespace braid {

/// Returns the name and all settings, defaults included, as in "adamw beta1=0.9 beta2=0.999 eps=1e-08 weight_decay=0.1
/// decay_exclude=biases,norms clip=1". An unknown optimizer gives its name alone.
std::string optimizerText(const DriverOptions &options);

} // namespace braid

#endif // BRAID_COMPILER_DRIVER_OPTIMIZERTEXT_H
