// RUN: braid-opt %s --tg-derive-facts --comm-bucket="bucket-mb=inf first-bucket-mb=inf" 2>/dev/null | FileCheck %s
// RUN: braid-interp %s --compare --function=readers --rtol=0 --atol=0 --pipeline="tg-derive-facts,func.func(comm-bucket{bucket-mb=inf first-bucket-mb=inf})"
// RUN: braid-interp %s --compare --function=old_value --rtol=0 --atol=0 --pipeline="tg-derive-facts,func.func(comm-bucket{bucket-mb=inf first-bucket-mb=inf})"
// RUN: braid-interp %s --compare --function=old_value --rtol=0 --atol=0 --pipeline="tg-derive-facts,func.func(comm-bucket{bucket-mb=inf first-bucket-mb=inf},exec-form-kernels,exec-fuse-kernels),exec-plan-memory,exec-verify-plan"
// RUN: braid-interp %s --compare --function=chain --rtol=0 --atol=0 --pipeline="tg-derive-facts,func.func(comm-bucket{bucket-mb=inf first-bucket-mb=inf})"
// RUN: braid-interp %s --compare --function=crossed --rtol=0 --atol=0 --pipeline="tg-derive-facts,func.func(comm-bucket{bucket-mb=inf first-bucket-mb=inf})"

// Buckets stand behind their last tensor; readers follow, and nothing is read before
// it is made.

// CHECK: comm.mesh
comm.mesh @mesh [dp = 2]

// An update in the middle of backward waits, with what reads it, and the rest does not.
// CHECK-LABEL: func.func @readers
// CHECK-NEXT:    %[[GB:.*]] = math.sin
// CHECK-NEXT:    %[[X:.*]] = math.exp %[[GB]]
// CHECK-NEXT:    %[[GA:.*]] = math.sin %[[X]]
// CHECK-NEXT:    %[[R:.*]]:2 = comm.all_reduce sum %[[GB]], %[[GA]] over @mesh {dp}
// CHECK-NEXT:    %[[H:.*]] = arith.mulf %[[R]]#0, %[[R]]#0
// CHECK-NEXT:    arith.subf %{{.*}}, %[[H]]
// CHECK-NEXT:    arith.subf %{{.*}}, %[[R]]#1
func.func @readers(%a: tensor<4xf32> {tg.param = #tg.param<"a", #tg.init<ones>>},
                   %b: tensor<4xf32> {tg.param = #tg.param<"b", #tg.init<ones>>})
    -> (tensor<4xf32> {tg.updates = "a"}, tensor<4xf32> {tg.updates = "b"})
    attributes {comm.program = #comm.program<@mesh>} {
  %gb = math.sin %b : tensor<4xf32>
  %rb = comm.all_reduce sum %gb over @mesh {dp} : (tensor<4xf32>) -> tensor<4xf32>
  %h = arith.mulf %rb, %rb : tensor<4xf32>
  %nb = arith.subf %b, %h : tensor<4xf32>
  %x = math.exp %gb : tensor<4xf32>
  %ga = math.sin %x : tensor<4xf32>
  %ra = comm.all_reduce sum %ga over @mesh {dp} : (tensor<4xf32>) -> tensor<4xf32>
  %na = arith.subf %a, %ra : tensor<4xf32>
  return %na, %nb : tensor<4xf32>, tensor<4xf32>
}

// The new value of %c is written over the old one: so it waits for a reader of that
// which waits for the bucket.
// CHECK-LABEL: func.func @old_value
// CHECK:         %[[R:.*]]:2 = comm.all_reduce
// CHECK-NEXT:    arith.mulf %[[R]]#0, %[[C:arg2]]
// CHECK-NEXT:    math.tanh %[[C]]
func.func @old_value(%a: tensor<4xf32> {tg.param = #tg.param<"a", #tg.init<ones>>},
                     %b: tensor<4xf32> {tg.param = #tg.param<"b", #tg.init<ones>>},
                     %c: tensor<4xf32> {tg.param = #tg.param<"c", #tg.init<ones>>})
    -> (tensor<4xf32> {tg.updates = "a"}, tensor<4xf32> {tg.updates = "b"}, tensor<4xf32> {tg.updates = "c"})
    attributes {comm.program = #comm.program<@mesh>} {
  %gb = math.sin %b : tensor<4xf32>
  %rb = comm.all_reduce sum %gb over @mesh {dp} : (tensor<4xf32>) -> tensor<4xf32>
  %h = arith.mulf %rb, %c : tensor<4xf32>
  %nc = math.tanh %c : tensor<4xf32>
  %ga = math.sin %a : tensor<4xf32>
  %ra = comm.all_reduce sum %ga over @mesh {dp} : (tensor<4xf32>) -> tensor<4xf32>
  %na = arith.subf %a, %ra : tensor<4xf32>
  %nb = arith.subf %b, %h : tensor<4xf32>
  return %na, %nb, %nc : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// The second gradient is made of the first one's sum.
// CHECK-LABEL: func.func @chain
// CHECK:         %[[B:.*]] = comm.all_reduce sum %{{[^,]*}} over
// CHECK:         %[[A:.*]] = comm.all_reduce sum %{{[^,]*}} over
func.func @chain(%a: tensor<4xf32> {tg.param = #tg.param<"a", #tg.init<ones>>},
                 %b: tensor<4xf32> {tg.param = #tg.param<"b", #tg.init<ones>>})
    -> (tensor<4xf32> {tg.updates = "a"}, tensor<4xf32> {tg.updates = "b"})
    attributes {comm.program = #comm.program<@mesh>} {
  %gb = math.sin %b : tensor<4xf32>
  %rb = comm.all_reduce sum %gb over @mesh {dp} : (tensor<4xf32>) -> tensor<4xf32>
  %nb = arith.subf %b, %rb : tensor<4xf32>
  %ga = arith.mulf %a, %rb : tensor<4xf32>
  %ra = comm.all_reduce sum %ga over @mesh {dp} : (tensor<4xf32>) -> tensor<4xf32>
  %na = arith.subf %a, %ra : tensor<4xf32>
  return %na, %nb : tensor<4xf32>, tensor<4xf32>
}

// A sum that a maximum needs, and a maximum that a sum needs: both as buckets would
// wait for each other.
// CHECK-LABEL: func.func @crossed
// CHECK-COUNT-2: comm.all_reduce sum %{{[^,]*}} over
// CHECK-NOT:     comm.all_reduce sum
func.func @crossed(%a: tensor<4xf32> {tg.param = #tg.param<"a", #tg.init<ones>>},
                   %b: tensor<4xf32> {tg.param = #tg.param<"b", #tg.init<ones>>},
                   %c: tensor<4xf32> {tg.param = #tg.param<"c", #tg.init<ones>>},
                   %d: tensor<4xf32> {tg.param = #tg.param<"d", #tg.init<ones>>})
    -> (tensor<4xf32> {tg.updates = "a"}, tensor<4xf32> {tg.updates = "b"}, tensor<4xf32> {tg.updates = "c"},
        tensor<4xf32> {tg.updates = "d"})
    attributes {comm.program = #comm.program<@mesh>} {
  %ra = comm.all_reduce sum %a over @mesh {dp} : (tensor<4xf32>) -> tensor<4xf32>
  %gb = arith.mulf %b, %ra : tensor<4xf32>
  %rb = comm.all_reduce max %gb over @mesh {dp} : (tensor<4xf32>) -> tensor<4xf32>
  %rc = comm.all_reduce max %c over @mesh {dp} : (tensor<4xf32>) -> tensor<4xf32>
  %gd = arith.mulf %d, %rc : tensor<4xf32>
  %rd = comm.all_reduce sum %gd over @mesh {dp} : (tensor<4xf32>) -> tensor<4xf32>
  %na = arith.subf %a, %ra : tensor<4xf32>
  %nb = arith.subf %b, %rb : tensor<4xf32>
  %nc = arith.subf %c, %rc : tensor<4xf32>
  %nd = arith.subf %d, %rd : tensor<4xf32>
  return %na, %nb, %nc, %nd : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
