/** A controller manager of `gyro up` beside the API server of another one: it does nothing while somebody else leads. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { eventually, repository, startGyro } from './gyro-process.ts'
import type { GyroProcess } from './gyro-process.ts'

const LEASES = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases'
const LEASE = `${LEASES}/kube-controller-manager`
const ACCOUNTS = '/api/v1/namespaces/default/serviceaccounts/default'
const SOMEBODY = 'somebody-else'

const folder = mkdtempSync(join(tmpdir(), 'gyro-joined-'))
let gyro: GyroProcess
let joined: ChildProcess | undefined
before(async () => {
  gyro = await startGyro(['--components=api-server'])
})
after(async () => {
  const exited = joined && once(joined, 'exit')
  joined?.kill('SIGTERM')
  await exited
  await gyro.stop()
  rmSync(folder, { recursive: true, force: true })
})

async function holder(): Promise<string | undefined> {
  const { body } = await gyro.request(LEASE)
  return body.spec?.holderIdentity as string | undefined
}

test('a manager that joins a cluster with a leader waits for its lease, and then leads', async () => {
  const spec = {
    holderIdentity: SOMEBODY,
    leaseDurationSeconds: 3_600,
    renewTime: new Date().toISOString().replace('Z', '000Z'),
  }
  const lease = { metadata: { name: 'kube-controller-manager' }, spec }
  assert.equal((await gyro.request(LEASES, { method: 'POST', body: lease })).status, 201)
  const args = ['up', '--components=controller-manager', `--kubeconfig=${gyro.kubeconfig}`]
  const fast = ['5s', '3s', '500ms']
  const names = ['lease-duration', 'renew-deadline', 'retry-period']
  joined = spawn(
    join(repository, 'bin/gyro'),
    [...args, ...names.map((name, index) => `--leader-elect-${name}=${fast[index]}`)],
    { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] },
  )
  const [banner] = (await once(joined.stdout!, 'data')) as [Buffer]
  assert.match(banner.toString(), /ready/)
  await new Promise((resolve) => setTimeout(resolve, 5_000))
  assert.equal(await holder(), SOMEBODY)
  assert.equal((await gyro.request(ACCOUNTS)).status, 404, 'nobody works')
  const { status } = await gyro.request(LEASE, { method: 'DELETE' })
  assert.equal(status, 200)
  const work = await eventually('the account is made', 20_000, async () => {
    const { status: found } = await gyro.request(ACCOUNTS)
    return found === 200 || undefined
  })
  assert.ok(work)
  assert.notEqual(await holder(), SOMEBODY)
})
