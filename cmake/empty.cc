// Of a target that is there for its precompiled headers.
