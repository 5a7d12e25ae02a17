// The tests of some files in this process, one file after the other: each is loaded when those of the one before have ended, so that
// what a file starts when it is loaded has its tests to itself.
import { resolve } from 'node:path'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { root } from './source-files.ts'

for (const file of process.argv.slice(2))
  test(file, () => import(pathToFileURL(resolve(root, file)).href))
