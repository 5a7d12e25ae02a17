# How both managers keep their Node small: sets the environment, and $small to flags for Node. Expects $node and $root.
# For little memory, at no more CPU time: docs/performance.md, Launch. Caches live long and events die at once, so a small nursery
# is enough; glibc shall keep one heap for all threads, in huge pages where there are, and give back what is free at its end.
export MALLOC_ARENA_MAX="${MALLOC_ARENA_MAX:-1}" MALLOC_TRIM_THRESHOLD_="${MALLOC_TRIM_THRESHOLD_:-131072}"
export GLIBC_TUNABLES="${GLIBC_TUNABLES:-glibc.malloc.hugetlb=1}"
# What a start leaves behind is collected as soon as the process rests, not in its midst; and TurboFan, of which 6 MiB become resident
# when it compiles its first function, is for what was called very often: an idle manager does without it. What lies scattered when
# memory is given back is moved together two megabytes at a time and not twelve: with a large heap moving them was a third of that
# pause, for ten megabytes of six hundred. Only the V8 of our own Node is known to take these.
small=--initial-old-space-size=32
[ "$node" = "$root/node_modules/.bin/node" ] &&
  small="$small --memory-reducer-delay-ms=1000 --gc-memory-reducer-start-delay-ms=1000 --invocation-count-for-turbofan=100000 --compaction-max-evacuated-bytes-mb-for-reduce-memory=2"
