// Holds the precompiled header that the compiler's libraries share.
