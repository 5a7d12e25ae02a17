/** Programs in Go, built with what scripts/find-client.sh fetches: the first build takes minutes, and its parts are kept. */
import assert from 'node:assert/strict'
import { globSync, mkdirSync } from 'node:fs'
import { basename, join } from 'node:path'
import { repository } from '../end-to-end/gyro-process.ts'
import { findClient, runClient } from './client-process.ts'

/** The path of the program that is made of `source`, a file or folder of tests/clients/programs, with the libraries of `client`. */
export async function goProgram(client: string, source: string, folder: string): Promise<string> {
  const found = findClient(client)
  const [root = ''] = globSync(join(found, 'usr/lib/go-*/'))
  const cache = join(repository, '.gyropilot/clients/go-cache')
  mkdirSync(cache, { recursive: true })
  const env = {
    ...process.env,
    GOROOT: root,
    GOPATH: join(found, 'usr/share/gocode'),
    GOCACHE: cache,
    GO111MODULE: 'off',
    CGO_ENABLED: '0',
  }
  const program = join(folder, basename(source, '.go'))
  const build = ['build', '-o', program, `./${source}`]
  const programs = join(repository, 'tests/clients/programs')
  const { code, text } = await runClient(join(root, 'bin/go'), build, env, programs)
  assert.equal(code, 0, text)
  return program
}
