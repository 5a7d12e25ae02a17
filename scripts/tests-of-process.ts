// The tests of some files in this process, one file after the other: each is loaded when those of the one before have ended, so that
// what a file starts when it is loaded has its tests to itself. Loaded in one go, because what a file says later is not known to be
// its own (see unfollowed-promises.ts): it must not await outside its tests and hooks.
import { createRequire } from 'node:module'
import { resolve } from 'node:path'
import { test } from 'node:test'
import { root } from './source-files.ts'

const load = createRequire(import.meta.url)
for (const file of process.argv.slice(2)) test(file, () => void load(resolve(root, file)))
