/** docs/guides/autoscale.md, word for word. Contract: docs/behaviour/controllers/horizontal-pod-autoscaler-controller.md. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { after, before, test } from 'node:test'
import { kubectlBinary, repository } from '../gyro-process.ts'
import { begin, cells, finish, gyro, start } from './session.ts'

before(begin)
after(finish)

const [setUp = '', look = '', away = ''] = [
  ...readFileSync(join(repository, 'docs/guides/autoscale.md'), 'utf8').matchAll(
    /^```sh\n(.*?)^```$/gms,
  ),
].map(([, commands]) => commands)

/** What a block of commands prints; each must succeed. */
function typed(commands: string): string {
  const path = `${dirname(kubectlBinary)}:${process.env['PATH']}`
  const env = { ...gyro.environment, PATH: path }
  const run = spawnSync('bash', ['-ec', commands], { encoding: 'utf8', env, timeout: 90_000 })
  assert.equal(run.status, 0, `${commands}\n${run.stdout}${run.stderr}`)
  return run.stdout
}

interface Sized {
  readonly metadata: { readonly name: string }
  readonly spec: { readonly replicas: number }
  readonly status: { readonly readyReplicas?: number }
}

const untilSize = (size: number) =>
  gyro.until(`${size} replicas`, 90_000, '/apis/apps/v1/namespaces/default/deployments', (all) =>
    (all as readonly Sized[]).find(
      ({ metadata, spec, status }) =>
        metadata.name === 'web' && spec.replicas === size && status.readyReplicas === size,
    ),
  )

test('a person watches a Deployment grow with its load, and shrink without', async () => {
  assert.match(typed(setUp), /horizontalpodautoscaler\.autoscaling\/web autoscaled\n$/)
  const watch = start(['get', 'hpa', 'web', '--watch'])
  await untilSize(7)
  const [top = '', shown = ''] = typed(look).split(/^(?=NAME +REFERENCE)/m)
  const used = cells(top).slice(1)
  assert.equal(used.length, 7)
  for (const [, cpu] of used) assert.equal(cpu, '93m')
  assert.match(shown, /^web +Deployment\/web +cpu: \d+%\/50% +1 +10 +[47] /m)
  assert.match(shown, /SuccessfulRescale .*New size: 4; reason: cpu resource utilization/)
  // Without a reason: new pods are not measured yet, and what was right before still counts.
  assert.match(shown, /SuccessfulRescale .*New size: 7; reason:/)
  assert.match(typed(away), /web patched\n/)
  await untilSize(1)
  // Of one pod: more than six times what was asked for.
  await watch.said(/cpu: 325%\/50% +1 +10 +1 /)
  watch.child.kill()
})
