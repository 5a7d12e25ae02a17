/** What a container reads of its own limits in /sys/fs/cgroup, as the second version of cgroups writes it. Pure. */
import { amountOf } from '@gyropilot/api'
import type { Container } from '@gyropilot/api'
import { FileStore } from '../files/file-store.ts'
import type { Mount } from '../files/file-tree.ts'

const PERIOD_US = 100_000
const LEAST_QUOTA_US = 1_000
const [LEAST_SHARES, MOST_SHARES] = [2, 262_144]
const SHARES_PER_CPU = 1_024
const MOST_WEIGHT = 10_000

type Resources = NonNullable<Container['resources']>

const FILES: Readonly<Record<string, (resources: Resources) => string>> = {
  'cpu.max': ({ limits = {} }) =>
    `${limits['cpu'] ? quotaOf(amountOf('cpu', limits['cpu'])) : 'max'} ${PERIOD_US}`,
  'cpu.weight': ({ requests = {}, limits = {} }) =>
    String(weightOf(amountOf('cpu', requests['cpu'] ?? limits['cpu'] ?? '0'))),
  'memory.max': ({ limits = {} }) =>
    limits['memory'] ? String(amountOf('memory', limits['memory'])) : 'max',
}

/** `resources`: what it runs with now. */
export function cgroupMount(resources: () => Resources | undefined): Mount {
  const store = new FileStore()
  for (const [name, textOf] of Object.entries(FILES))
    store.set(`/${name}`, async () => Buffer.from(`${textOf(resources() ?? {})}\n`))
  return { path: '/sys/fs/cgroup', store, subPath: '', readOnly: true, type: 'cgroup2' }
}

function quotaOf(milliCpu: number): number {
  return Math.max(LEAST_QUOTA_US, Math.floor((milliCpu * PERIOD_US) / 1_000))
}

function weightOf(milliCpu: number): number {
  const asked = Math.floor((milliCpu * SHARES_PER_CPU) / 1_000)
  const shares = Math.min(MOST_SHARES, Math.max(LEAST_SHARES, asked))
  const part = (shares - LEAST_SHARES) / (MOST_SHARES - LEAST_SHARES)
  return 1 + Math.floor(part * (MOST_WEIGHT - 1))
}
