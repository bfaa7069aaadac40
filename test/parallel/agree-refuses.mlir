// RUN: not braid-opt %s --comm-agree --split-input-file 2>&1 | FileCheck %s

// CHECK: error: comm-agree takes a module with one comm.mesh; this one has 0
module {}

// -----

// CHECK: error: comm-agree takes a module with one comm.mesh; this one has 2
comm.mesh @a [dp = 2]
comm.mesh @b [dp = 2]

// -----

// CHECK: error: the module has 'agree' already; comm-agree adds it
comm.mesh @mesh [dp = 2]
func.func private @agree()

// -----

// CHECK: error: 'train' has the role 'stop' already; comm-agree adds it
comm.mesh @mesh [dp = 2]
func.func @train(%stop: tensor<f32> {tg.input = "stop", tg.role = #tg.role<stop>}) {
  return
}

// -----

// CHECK: error: 'train' is the program of a rank; comm-agree takes it before comm-shard, with whole tensors
comm.mesh @mesh [dp = 2]
func.func @train() attributes {comm.program = #comm.program<@mesh>} {
  return
}

// -----

// CHECK: error: 'train' is a declaration; comm-agree takes it before comm-shard, with whole tensors
comm.mesh @mesh [dp = 2]
func.func private @train()
