// RUN: not braid-opt %s --comm-agree --split-input-file 2>&1 | FileCheck %s

// CHECK: error: comm-agree needs a module with one comm.mesh, found 0
module {}

// -----

// CHECK: error: comm-agree needs a module with one comm.mesh, found 2
comm.mesh @a [dp = 2]
comm.mesh @b [dp = 2]

// -----

// CHECK: error: the module has 'agree' already; run comm-agree only once
comm.mesh @mesh [dp = 2]
func.func private @agree()

// -----

// CHECK: error: 'train' has the role 'stop' already; run comm-agree only once
comm.mesh @mesh [dp = 2]
func.func @train(%stop: tensor<f32> {tg.input = "stop", tg.role = #tg.role<stop>}) {
  return
}

// -----

// CHECK: error: 'train' is the program of a rank; comm-agree needs whole tensors, so run it before comm-shard
comm.mesh @mesh [dp = 2]
func.func @train() attributes {comm.program = #comm.program<@mesh>} {
  return
}

// -----

// CHECK: error: 'train' is a declaration; comm-agree needs whole tensors, so run it before comm-shard
comm.mesh @mesh [dp = 2]
func.func private @train()
