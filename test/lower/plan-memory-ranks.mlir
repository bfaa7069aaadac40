// What a rank does alone, by its place in the mesh, in memory: it reads and writes rows
// where they lie, and flat ranges as one; it never writes over what it reads.
// RUN: braid-opt %s --exec-form-kernels --exec-plan-memory --exec-verify-memory --exec-verify-plan -o %t
// RUN: FileCheck %s --input-file=%t
// RUN: braid-opt %t | diff %t -
// RUN: braid-interp %s --compare --function=number --pipeline="func.func(exec-form-kernels),exec-plan-memory,exec-verify-plan"
// RUN: braid-interp %s --compare --function=dims --pipeline="func.func(exec-form-kernels),exec-plan-memory,exec-verify-plan"
// RUN: braid-interp %s --compare --function=flat --pipeline="func.func(exec-form-kernels),exec-plan-memory,exec-verify-plan"
// RUN: braid-interp %s --compare --function=assemble --pipeline="func.func(exec-form-kernels),exec-plan-memory,exec-verify-plan"
// RUN: braid-interp %s --compare --function=assemble_flat --pipeline="func.func(exec-form-kernels),exec-plan-memory,exec-verify-plan"
// RUN: braid-interp %s --compare --function=concat --pipeline="func.func(exec-form-kernels),exec-plan-memory,exec-verify-plan"

comm.mesh @mesh [dp = 2, tp = 2]

// A rank's number is written once; a kernel reads it.
// CHECK-LABEL: exec.program @number
// CHECK:       comm.axis_index outs(%[[I:[0-9]+]] : !exec.ref<i32, []>) over @mesh {tp}
// CHECK-NEXT:  exec.kernel "addi"(%{{[0-9]+}}, %[[I]]) outs(
func.func @number(%x: tensor<4xi32> {tg.input = "x"})
    -> (tensor<4xi32> {tg.output = "y", comm.sharding = #comm.sharding<@mesh, {tp}>, comm.global = tensor<8xi32>})
    attributes {comm.program = #comm.program<@mesh>} {
  %i = comm.axis_index over @mesh {tp} : tensor<i32>
  %b = tg.broadcast %i dims [] : tensor<i32> -> tensor<4xi32>
  %y = arith.addi %x, %b : tensor<4xi32>
  return %y : tensor<4xi32>
}

// Columns of a view are sliced in place, and nothing is copied; a block has memory
// of its own though the whole dies.
// CHECK-LABEL: exec.program @dims
// CHECK-DAG:   %[[RIGHT:[0-9]+]] = exec.ref @{{.*}} + 16 : <4x4xf32, [8, 1]>
// CHECK:       exec.kernel "exp"(%{{[0-9]+}}) outs(%[[E:[0-9]+]] :
// CHECK:       comm.slice %[[E]] outs(%[[A:[0-9]+]] : !exec.ref<4x4xf32, [4, 1]>) dim 1 over @mesh {tp} : !exec.ref<4x8xf32, [8, 1]>{{$}}
// CHECK-NEXT:  comm.slice %[[RIGHT]] outs(%{{[0-9]+}} : !exec.ref<1x4xf32, [4, 1]>) dim 0 shift 1 over @mesh {dp, tp} : !exec.ref<4x4xf32, [8, 1]>{{$}}
// CHECK-NEXT:  exec.kernel "tanh"(%[[A]]) outs(%[[A]] :
func.func @dims(%x: tensor<4x8xf32> {tg.input = "x"})
    -> (tensor<4x4xf32> {tg.output = "y", comm.sharding = #comm.sharding<@mesh, {} {tp}>, comm.global = tensor<4x8xf32>},
        tensor<1x4xf32> {tg.output = "z", comm.sharding = #comm.sharding<@mesh, {dp, tp} {}>, comm.global = tensor<4x4xf32>})
    attributes {comm.program = #comm.program<@mesh>} {
  %e = math.exp %x : tensor<4x8xf32>
  %0 = comm.slice %e dim 1 over @mesh {tp} : tensor<4x8xf32> -> tensor<4x4xf32>
  %right = exec.view %x offset 4 strides [8, 1] : tensor<4x8xf32> -> tensor<4x4xf32>
  %1 = comm.slice %right dim 0 shift 1 over @mesh {dp, tp} : tensor<4x4xf32> -> tensor<1x4xf32>
  %2 = math.tanh %0 : tensor<4x4xf32>
  return %2, %1 : tensor<4x4xf32>, tensor<1x4xf32>
}

// Nine elements on four ranks: the last range is padding.  A strided operand is
// copied first.
// CHECK-LABEL: exec.program @flat
// CHECK:       exec.kernel "copy"(%{{[0-9]+}}) outs(%[[C:[0-9]+]] : !exec.ref<3x3xf32, [3, 1]>)
// CHECK:       comm.slice %[[C]] outs(%[[W:[0-9]+]] : !exec.ref<3xf32, [1]>) dim flat over @mesh {dp, tp} : !exec.ref<3x3xf32, [3, 1]>
func.func @flat(%x: tensor<3x4xf32> {tg.input = "x"})
    -> (tensor<3xf32> {tg.output = "y", comm.sharding = #comm.sharding<@mesh, {} {}, flat {dp, tp}>, comm.global = tensor<3x3xf32>})
    attributes {comm.program = #comm.program<@mesh>} {
  %left = exec.view %x offset 0 strides [4, 1] : tensor<3x4xf32> -> tensor<3x3xf32>
  %0 = comm.slice %left dim flat over @mesh {dp, tp} : tensor<3x3xf32> -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

// The blocks of a whole, sliced with other shifts and joined again.
// CHECK-LABEL: exec.program @assemble
// CHECK:       comm.assemble %[[A:[0-9]+]], %[[B:[0-9]+]] outs(%{{[0-9]+}} : !exec.ref<2x8xf32, [8, 1]>) dim 1 shifts [0, 1] over @mesh {tp} : (!exec.ref<2x4xf32, [4, 1]>, !exec.ref<2x4xf32, [4, 1]>) -> ()
func.func @assemble(%x: tensor<2x8xf32> {tg.input = "x"}) -> (tensor<2x8xf32> {tg.output = "y"})
    attributes {comm.program = #comm.program<@mesh>} {
  %0 = comm.slice %x dim 1 over @mesh {tp} : tensor<2x8xf32> -> tensor<2x4xf32>
  %1 = comm.slice %x dim 1 shift 1 over @mesh {tp} : tensor<2x8xf32> -> tensor<2x4xf32>
  %2 = comm.assemble %0, %1 dim 1 shifts [0, 1] over @mesh {tp} : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x8xf32>
  return %2 : tensor<2x8xf32>
}

// The padding of flat ranges has no place in the whole, which is a parameter's.
// CHECK-LABEL: exec.program @assemble_flat
// CHECK-DAG:   %[[W:[0-9]+]] = exec.ref @w + 0 : <3x3xf32, [3, 1]>
// CHECK:       comm.assemble %{{[0-9]+}}, %{{[0-9]+}} outs(%[[W]] : !exec.ref<3x3xf32, [3, 1]>) dim flat shifts [1, 0] over @mesh {tp} : (!exec.ref<5xf32, [1]>, !exec.ref<5xf32, [1]>) -> ()
// CHECK-NOT:   "copy"
func.func @assemble_flat(%w: tensor<3x3xf32> {tg.param = #tg.param<"w", #tg.init<zeros>>}, %x: tensor<3x3xf32> {tg.input = "x"})
    -> (tensor<3x3xf32> {tg.updates = "w"}) attributes {comm.program = #comm.program<@mesh>} {
  %0 = comm.slice %x dim flat over @mesh {tp} : tensor<3x3xf32> -> tensor<5xf32>
  %1 = comm.slice %x dim flat shift 1 over @mesh {tp} : tensor<3x3xf32> -> tensor<5xf32>
  %2 = comm.assemble %1, %0 dim flat shifts [1, 0] over @mesh {tp} : (tensor<5xf32>, tensor<5xf32>) -> tensor<3x3xf32>
  return %2 : tensor<3x3xf32>
}

// Columns of a concat are written in place by a block sliced along a dim; a flat range is
// copied there.
// CHECK-LABEL: exec.program @concat
// CHECK-DAG:   %[[LEFT:[0-9]+]] = exec.ref @{{.*}} + 0 : <2x4xf32, [8, 1]>
// CHECK-DAG:   %[[RIGHT:[0-9]+]] = exec.ref @{{.*}} + 16 : <2x4xf32, [8, 1]>
// CHECK:       comm.slice %{{[0-9]+}} outs(%[[LEFT]] : !exec.ref<2x4xf32, [8, 1]>) dim 1
// CHECK-NEXT:  comm.assemble %[[X:[0-9]+]], %[[X]] outs(%[[F:[0-9]+]] : !exec.ref<2x4xf32, [4, 1]>) dim flat
// CHECK-NEXT:  exec.kernel "copy"(%[[F]]) outs(%[[RIGHT]] :
func.func @concat(%x: tensor<2x8xf32> {tg.input = "x"}, %f: tensor<4xf32> {tg.input = "f"})
    -> (tensor<2x8xf32> {tg.output = "y", comm.sharding = #comm.sharding<@mesh, {tp} {}>, comm.global = tensor<4x8xf32>})
    attributes {comm.program = #comm.program<@mesh>} {
  %0 = comm.slice %x dim 1 over @mesh {tp} : tensor<2x8xf32> -> tensor<2x4xf32>
  %1 = comm.assemble %f, %f dim flat shifts [0, 1] over @mesh {tp} : (tensor<4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  %2 = exec.concat %0, %1 dim 1 : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x8xf32>
  return %2 : tensor<2x8xf32>
}
