import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Container } from '@gyropilot/api'
import { cgroupMount } from './cgroup-files.ts'
import { FileTree } from '../files/file-tree.ts'
import { FileStore } from '../files/file-store.ts'

async function textsOf(resources: Container['resources']): Promise<readonly string[]> {
  const files = new FileTree(new FileStore(), [cgroupMount(() => resources)])
  const names = ['cpu.max', 'cpu.weight', 'memory.max']
  const contents = names.map((name) => files.read(`/sys/fs/cgroup/${name}`))
  return (await Promise.all(contents)).map((bytes) => Buffer.from(bytes).toString())
}

for (const [title, resources, expected] of [
  ['nothing asked for', {}, ['max 100000\n', '1\n', 'max\n']],
  [
    'requests and limits',
    { requests: { cpu: '500m', memory: '1Gi' }, limits: { cpu: '1500m', memory: '2Gi' } },
    ['150000 100000\n', '20\n', '2147483648\n'],
  ],
  ['a limit alone is the request', { limits: { cpu: '1' } }, ['100000 100000\n', '39\n', 'max\n']],
  ['the least there is', { limits: { cpu: '1m' } }, ['1000 100000\n', '1\n', 'max\n']],
] as const)
  test(`what a container sees of its limits: ${title}`, async () =>
    assert.deepEqual(await textsOf(resources), expected))
