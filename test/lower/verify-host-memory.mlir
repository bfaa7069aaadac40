// Nothing but copies touches the host's memory, on values and in memory.
// RUN: braid-opt %s --exec-verify-values --exec-verify-plan --verify-diagnostics --split-input-file

module attributes {exec.target = #exec.target<"cuda", arch = "sm_90">} {
  func.func @reads(%m: tensor<4x4xf32> {exec.host, tg.state = #tg.state<"w.m", #tg.init<zeros>, of = "w", kind = moment>},
                   %w: tensor<4x4xf32> {tg.param = #tg.param<"w", #tg.init<zeros>>}) -> tensor<4x4xf32> {
    // expected-error @below {{reads 'w.m', which is in the host's memory; only a comm.copy to the device may read it}}
    %a = exec.matmul "mk,kn->mn"(%m, %w) : tensor<4x4xf32>, tensor<4x4xf32> -> tensor<4x4xf32>
    return %a : tensor<4x4xf32>
  }
}

// -----

module attributes {exec.target = #exec.target<"cuda", arch = "sm_90">} {
  // expected-error @below {{updates "w.m", which is in the memory of the host, with a value in the memory of the device}}
  func.func @writes(%m: tensor<4x4xf32> {exec.host, tg.state = #tg.state<"w.m", #tg.init<zeros>, of = "w", kind = moment>},
                    %w: tensor<4x4xf32> {tg.param = #tg.param<"w", #tg.init<zeros>>}) -> (tensor<4x4xf32> {tg.updates = "w.m"}) {
    %d = comm.copy %m to device : (tensor<4x4xf32>) -> tensor<4x4xf32>
    %a = exec.matmul "mk,kn->mn"(%d, %w) : tensor<4x4xf32>, tensor<4x4xf32> -> tensor<4x4xf32>
    return %a : tensor<4x4xf32>
  }
}

// -----

module attributes {exec.target = #exec.target<"cuda", arch = "sm_90">} {
  // expected-error @below {{updates "w", which is in the memory of the device, with a value in the memory of the host}}
  func.func @sends(%m: tensor<4x4xf32> {exec.host, tg.state = #tg.state<"w.m", #tg.init<zeros>, of = "w", kind = moment>},
                   %w: tensor<4x4xf32> {tg.param = #tg.param<"w", #tg.init<zeros>>}) -> (tensor<4x4xf32> {tg.updates = "w"}) {
    %d = comm.copy %m to device : (tensor<4x4xf32>) -> tensor<4x4xf32>
    %a = exec.matmul "mk,kn->mn"(%d, %w) : tensor<4x4xf32>, tensor<4x4xf32> -> tensor<4x4xf32>
    %h = comm.copy %a to host : (tensor<4x4xf32>) -> tensor<4x4xf32>
    return %h : tensor<4x4xf32>
  }
}

// -----

module attributes {exec.target = #exec.target<"cuda", arch = "sm_90">} {
  exec.tensor @m at 0 bytes 64 host category optimizer_state : tensor<4x4xf32> = #tg.state<"m", #tg.init<zeros>, of = "w", kind = moment>
  exec.tensor @w at 0 bytes 64 category parameters : tensor<4x4xf32> = #tg.param<"w", #tg.init<zeros>>
  exec.program @reads arena 512 {
    exec.buffer @b at 256 bytes 64 live 0 to 0 category activations name "b"
    %m = exec.ref @m + 0 : !exec.ref<4x4xf32, [4, 1]>
    %w = exec.ref @w + 0 : !exec.ref<4x4xf32, [4, 1]>
    %b = exec.ref @b + 0 : !exec.ref<4x4xf32, [4, 1]>
    // expected-error @below {{reads 'm' in the memory of the host; only a comm.copy may access host memory}}
    exec.matmul "mk,kn->mn" (%m, %w) outs(%b : !exec.ref<4x4xf32, [4, 1]>) : !exec.ref<4x4xf32, [4, 1]>, !exec.ref<4x4xf32, [4, 1]>
  }
}

// -----

module attributes {exec.target = #exec.target<"cuda", arch = "sm_90">} {
  exec.tensor @w at 0 bytes 64 category parameters : tensor<4x4xf32> = #tg.param<"w", #tg.init<zeros>>
  exec.program @fetches arena 512 {
    exec.buffer @b at 256 bytes 64 live 0 to 0 category activations name "b"
    %w = exec.ref @w + 0 : !exec.ref<4x4xf32, [4, 1]>
    %b = exec.ref @b + 0 : !exec.ref<4x4xf32, [4, 1]>
    // expected-error @below {{reads 'w' in the memory of the device; a comm.copy must connect host and device memory}}
    comm.copy %w outs(%b : !exec.ref<4x4xf32, [4, 1]>) to device : (!exec.ref<4x4xf32, [4, 1]>) -> ()
  }
}

// -----

// Nobody reads what has not arrived.
module attributes {exec.target = #exec.target<"cuda", arch = "sm_90">} {
  exec.tensor @m at 0 bytes 64 host category optimizer_state : tensor<4x4xf32> = #tg.state<"m", #tg.init<zeros>, of = "w", kind = moment>
  exec.tensor @w at 0 bytes 64 category parameters : tensor<4x4xf32> = #tg.param<"w", #tg.init<zeros>>
  exec.program @early arena 768 {
    exec.buffer @b at 256 bytes 64 live 0 to 2 category optimizer_state name "m"
    exec.buffer @c at 512 bytes 64 live 1 to 2 category activations name "c"
    %m = exec.ref @m + 0 : !exec.ref<4x4xf32, [4, 1]>
    %w = exec.ref @w + 0 : !exec.ref<4x4xf32, [4, 1]>
    %b = exec.ref @b + 0 : !exec.ref<4x4xf32, [4, 1]>
    %c = exec.ref @c + 0 : !exec.ref<4x4xf32, [4, 1]>
    // expected-note @below {{started here}}
    %t = comm.start {
      comm.copy %m outs(%b : !exec.ref<4x4xf32, [4, 1]>) to device : (!exec.ref<4x4xf32, [4, 1]>) -> ()
    } : !comm.ticket<>
    // expected-error @below {{reads 'b', which copy_from_host writes until its wait}}
    exec.matmul "mk,kn->mn" (%b, %w) outs(%c : !exec.ref<4x4xf32, [4, 1]>) : !exec.ref<4x4xf32, [4, 1]>, !exec.ref<4x4xf32, [4, 1]>
    comm.wait %t : !comm.ticket<>
  }
}

// -----

// Nobody overwrites what is on its way.
module attributes {exec.target = #exec.target<"cuda", arch = "sm_90">} {
  exec.tensor @m at 0 bytes 64 host category optimizer_state : tensor<4x4xf32> = #tg.state<"m", #tg.init<zeros>, of = "w", kind = moment>
  exec.tensor @w at 0 bytes 64 category parameters : tensor<4x4xf32> = #tg.param<"w", #tg.init<zeros>>
  exec.program @over arena 512 {
    exec.buffer @b at 256 bytes 64 live 0 to 3 category optimizer_state name "m"
    %m = exec.ref @m + 0 : !exec.ref<4x4xf32, [4, 1]>
    %w = exec.ref @w + 0 : !exec.ref<4x4xf32, [4, 1]>
    %b = exec.ref @b + 0 : !exec.ref<4x4xf32, [4, 1]>
    comm.copy %m outs(%b : !exec.ref<4x4xf32, [4, 1]>) to device : (!exec.ref<4x4xf32, [4, 1]>) -> ()
    // expected-note @below {{started here}}
    %t = comm.start {
      comm.copy %b outs(%m : !exec.ref<4x4xf32, [4, 1]>) to host : (!exec.ref<4x4xf32, [4, 1]>) -> ()
    } : !comm.ticket<>
    // expected-error @below {{writes 'b', which copy_to_host reads until its wait}}
    exec.matmul "mk,kn->mn" (%w, %w) outs(%b : !exec.ref<4x4xf32, [4, 1]>) : !exec.ref<4x4xf32, [4, 1]>, !exec.ref<4x4xf32, [4, 1]>
    comm.wait %t : !comm.ticket<>
  }
}

// -----

// What waits in the host's memory is fetched before it is read.
module attributes {exec.target = #exec.target<"cuda", arch = "sm_90">} {
  func.func @activation(%w: tensor<4x4xf32> {tg.param = #tg.param<"w", #tg.init<zeros>>}) -> tensor<4x4xf32> {
    // expected-note @below {{copied to the host here}}
    %h = comm.copy %w to host : (tensor<4x4xf32>) -> tensor<4x4xf32>
    // expected-error @below {{reads a value in the host's memory; only a comm.copy to the device may read it}}
    %a = exec.matmul "mk,kn->mn"(%h, %w) : tensor<4x4xf32>, tensor<4x4xf32> -> tensor<4x4xf32>
    return %a : tensor<4x4xf32>
  }
}

// -----

// And the caller gets nothing from there.
module attributes {exec.target = #exec.target<"cuda", arch = "sm_90">} {
  func.func @result(%w: tensor<4x4xf32> {tg.param = #tg.param<"w", #tg.init<zeros>>}) -> tensor<4x4xf32> {
    // expected-note @below {{copied to the host here}}
    %h = comm.copy %w to host : (tensor<4x4xf32>) -> tensor<4x4xf32>
    // expected-error @below {{reads a value in the host's memory; only a comm.copy to the device may read it}}
    return %h : tensor<4x4xf32>
  }
}

// -----

// An activation is there until its copy to the host is over.
module attributes {exec.target = #exec.target<"cuda", arch = "sm_90">} {
  exec.tensor @w at 0 bytes 64 category parameters : tensor<4x4xf32> = #tg.param<"w", #tg.init<zeros>>
  exec.program @over arena 512 {
    exec.buffer @b at 256 bytes 64 live 0 to 5 category activations name "b"
    exec.buffer @h at 0 bytes 64 host live 1 to 5 category activations name "b"
    %w = exec.ref @w + 0 : !exec.ref<4x4xf32, [4, 1]>
    %b = exec.ref @b + 0 : !exec.ref<4x4xf32, [4, 1]>
    %h = exec.ref @h + 0 : !exec.ref<4x4xf32, [4, 1]>
    exec.matmul "mk,kn->mn" (%w, %w) outs(%b : !exec.ref<4x4xf32, [4, 1]>) : !exec.ref<4x4xf32, [4, 1]>, !exec.ref<4x4xf32, [4, 1]>
    // expected-note @below {{started here}}
    %t = comm.start {
      comm.copy %b outs(%h : !exec.ref<4x4xf32, [4, 1]>) to host : (!exec.ref<4x4xf32, [4, 1]>) -> ()
    } : !comm.ticket<>
    // expected-error @below {{writes 'b', which copy_to_host reads until its wait}}
    exec.matmul "mk,kn->mn" (%w, %w) outs(%b : !exec.ref<4x4xf32, [4, 1]>) : !exec.ref<4x4xf32, [4, 1]>, !exec.ref<4x4xf32, [4, 1]>
    comm.wait %t : !comm.ticket<>
    comm.copy %h outs(%b : !exec.ref<4x4xf32, [4, 1]>) to device : (!exec.ref<4x4xf32, [4, 1]>) -> ()
  }
}

// -----

// Its bytes are no one else's before that.
module attributes {exec.target = #exec.target<"cuda", arch = "sm_90">} {
  exec.tensor @w at 0 bytes 64 category parameters : tensor<4x4xf32> = #tg.param<"w", #tg.init<zeros>>
  exec.program @reused arena 512 {
    // expected-note @below {{the other range}}
    exec.buffer @b at 256 bytes 64 live 0 to 3 category activations name "b"
    exec.buffer @h at 0 bytes 64 host live 1 to 3 category activations name "b"
    // expected-error @below {{'c' at 256 to 320 overlaps 'b' at 256 to 320 while both are live}}
    exec.buffer @c at 256 bytes 64 live 2 to 2 category activations name "c"
    %w = exec.ref @w + 0 : !exec.ref<4x4xf32, [4, 1]>
    %b = exec.ref @b + 0 : !exec.ref<4x4xf32, [4, 1]>
    %c = exec.ref @c + 0 : !exec.ref<4x4xf32, [4, 1]>
    %h = exec.ref @h + 0 : !exec.ref<4x4xf32, [4, 1]>
    exec.matmul "mk,kn->mn" (%w, %w) outs(%b : !exec.ref<4x4xf32, [4, 1]>) : !exec.ref<4x4xf32, [4, 1]>, !exec.ref<4x4xf32, [4, 1]>
    %t = comm.start {
      comm.copy %b outs(%h : !exec.ref<4x4xf32, [4, 1]>) to host : (!exec.ref<4x4xf32, [4, 1]>) -> ()
    } : !comm.ticket<>
    exec.matmul "mk,kn->mn" (%w, %w) outs(%c : !exec.ref<4x4xf32, [4, 1]>) : !exec.ref<4x4xf32, [4, 1]>, !exec.ref<4x4xf32, [4, 1]>
    comm.wait %t : !comm.ticket<>
  }
}

// -----

// The source may not die on the way.
module attributes {exec.target = #exec.target<"cuda", arch = "sm_90">} {
  exec.tensor @w at 0 bytes 64 category parameters : tensor<4x4xf32> = #tg.param<"w", #tg.init<zeros>>
  exec.program @dies arena 512 {
    // expected-note @below {{declared here}}
    exec.buffer @b at 256 bytes 64 live 0 to 1 category activations name "b"
    exec.buffer @h at 0 bytes 64 host live 1 to 2 category activations name "b"
    %w = exec.ref @w + 0 : !exec.ref<4x4xf32, [4, 1]>
    %b = exec.ref @b + 0 : !exec.ref<4x4xf32, [4, 1]>
    %h = exec.ref @h + 0 : !exec.ref<4x4xf32, [4, 1]>
    exec.matmul "mk,kn->mn" (%w, %w) outs(%b : !exec.ref<4x4xf32, [4, 1]>) : !exec.ref<4x4xf32, [4, 1]>, !exec.ref<4x4xf32, [4, 1]>
    %t = comm.start {
      comm.copy %b outs(%h : !exec.ref<4x4xf32, [4, 1]>) to host : (!exec.ref<4x4xf32, [4, 1]>) -> ()
    } : !comm.ticket<>
    // expected-error @below {{is action 2 but uses 'b', which lives from 0 to 1}}
    comm.wait %t : !comm.ticket<>
  }
}

// -----

// It is fetched when its copy to the host is over, and not before.
module attributes {exec.target = #exec.target<"cuda", arch = "sm_90">} {
  exec.tensor @w at 0 bytes 64 category parameters : tensor<4x4xf32> = #tg.param<"w", #tg.init<zeros>>
  exec.program @early arena 768 {
    exec.buffer @b at 256 bytes 64 live 0 to 3 category activations name "b"
    exec.buffer @h at 0 bytes 64 host live 1 to 3 category activations name "b"
    exec.buffer @c at 512 bytes 64 live 2 to 3 category activations name "b"
    %w = exec.ref @w + 0 : !exec.ref<4x4xf32, [4, 1]>
    %b = exec.ref @b + 0 : !exec.ref<4x4xf32, [4, 1]>
    %c = exec.ref @c + 0 : !exec.ref<4x4xf32, [4, 1]>
    %h = exec.ref @h + 0 : !exec.ref<4x4xf32, [4, 1]>
    exec.matmul "mk,kn->mn" (%w, %w) outs(%b : !exec.ref<4x4xf32, [4, 1]>) : !exec.ref<4x4xf32, [4, 1]>, !exec.ref<4x4xf32, [4, 1]>
    // expected-note @below {{started here}}
    %t = comm.start {
      comm.copy %b outs(%h : !exec.ref<4x4xf32, [4, 1]>) to host : (!exec.ref<4x4xf32, [4, 1]>) -> ()
    } : !comm.ticket<>
    // expected-error @below {{reads 'h', which copy_to_host writes until its wait}}
    comm.copy %h outs(%c : !exec.ref<4x4xf32, [4, 1]>) to device : (!exec.ref<4x4xf32, [4, 1]>) -> ()
    comm.wait %t : !comm.ticket<>
  }
}

// -----

// Nobody reads it before it is back.
module attributes {exec.target = #exec.target<"cuda", arch = "sm_90">} {
  exec.tensor @w at 0 bytes 64 category parameters : tensor<4x4xf32> = #tg.param<"w", #tg.init<zeros>>
  exec.program @unwaited arena 768 {
    exec.buffer @b at 256 bytes 64 live 0 to 4 category activations name "b"
    exec.buffer @h at 0 bytes 64 host live 1 to 4 category activations name "b"
    exec.buffer @c at 512 bytes 64 live 3 to 3 category activations name "c"
    %w = exec.ref @w + 0 : !exec.ref<4x4xf32, [4, 1]>
    %b = exec.ref @b + 0 : !exec.ref<4x4xf32, [4, 1]>
    %c = exec.ref @c + 0 : !exec.ref<4x4xf32, [4, 1]>
    %h = exec.ref @h + 0 : !exec.ref<4x4xf32, [4, 1]>
    exec.matmul "mk,kn->mn" (%w, %w) outs(%b : !exec.ref<4x4xf32, [4, 1]>) : !exec.ref<4x4xf32, [4, 1]>, !exec.ref<4x4xf32, [4, 1]>
    comm.copy %b outs(%h : !exec.ref<4x4xf32, [4, 1]>) to host : (!exec.ref<4x4xf32, [4, 1]>) -> ()
    // expected-note @below {{started here}}
    %t = comm.start {
      comm.copy %h outs(%b : !exec.ref<4x4xf32, [4, 1]>) to device : (!exec.ref<4x4xf32, [4, 1]>) -> ()
    } : !comm.ticket<>
    // expected-error @below {{reads 'b', which copy_from_host writes until its wait}}
    exec.matmul "mk,kn->mn" (%b, %w) outs(%c : !exec.ref<4x4xf32, [4, 1]>) : !exec.ref<4x4xf32, [4, 1]>, !exec.ref<4x4xf32, [4, 1]>
    comm.wait %t : !comm.ticket<>
  }
}

// -----

// Two that wait at one time do not share bytes.
module attributes {exec.target = #exec.target<"cuda", arch = "sm_90">} {
  exec.program @shared arena 0 {
    // expected-note @below {{the other range}}
    exec.buffer @g at 0 bytes 64 host live 0 to 0 category activations name "g"
    // expected-error @below {{'h' at 0 to 64 overlaps 'g' at 0 to 64 while both are live}}
    exec.buffer @h at 0 bytes 64 host live 0 to 0 category activations name "h"
  }
}
