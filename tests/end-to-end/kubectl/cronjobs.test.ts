/** CronJobs as a person runs them. Contract: docs/behaviour/api-server/kubectl.md, docs/behaviour/controllers/cronjob-controller.md. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { begin, cells, expectAll, finish, gyro, refuseAll } from './session.ts'

before(begin)
after(finish)

test('a CronJob is made, run by hand, suspended and deleted with its Jobs', () => {
  gyro.ok('create', 'cronjob', 'backup', '--image=busybox:1', '--schedule=59 3 * * 1-5')
  const [head, row] = cells(gyro.ok('get', 'cronjobs'))
  const columns = ['NAME', 'SCHEDULE', 'TIMEZONE', 'SUSPEND', 'ACTIVE', 'LAST SCHEDULE', 'AGE']
  assert.deepEqual(head, columns)
  const shown = ['backup', '59 3 * * 1-5', '<none>', 'False', '0', '<none>']
  assert.deepEqual(row!.slice(0, 6), shown)
  gyro.ok('create', 'job', 'by-hand', '--from=cronjob/backup')
  gyro.ok('wait', '--for=condition=complete', 'job/by-hand', '--timeout=60s')
  const owner = '{.metadata.ownerReferences[0].kind}/{.metadata.ownerReferences[0].name}'
  expectAll([
    [`get job by-hand -o jsonpath=${owner}`, 'CronJob/backup'],
    [
      'get job by-hand -o jsonpath={.metadata.annotations}',
      /"cronjob\.kubernetes\.io\/instantiate":"manual"/,
    ],
    [
      'describe cronjob backup',
      /Schedule: +59 3 \* \* 1-5\nConcurrency Policy: +Allow\nSuspend: +False\n/,
    ],
    ['get cronjob backup -o jsonpath={.status.active}', ''],
  ])
  gyro.ok('wait', '--for=jsonpath={.status.lastSuccessfulTime}', 'cronjob/backup', '--timeout=60s')
  gyro.ok('patch', 'cronjob', 'backup', '-p', '{"spec":{"suspend":true}}')
  assert.equal(cells(gyro.ok('get', 'cj', 'backup'))[1]![3], 'True')
  gyro.ok('delete', 'cronjob', 'backup')
  gyro.ok('wait', '--for=delete', 'job/by-hand', '--timeout=60s')
})

test('a CronJob of every minute starts its Job in time, and says so', async () => {
  gyro.ok('create', 'cronjob', 'tick', '--image=busybox:1', '--schedule=* * * * *')
  const collection = '/apis/batch/v1/namespaces/default/jobs'
  const name = await gyro.until('a Job of tick is complete', 90_000, collection, (jobs) => {
    const job = jobs.find(({ metadata }) => /^tick-\d+$/.test(metadata.name))
    return job?.status?.completionTime === undefined ? undefined : (job.metadata.name as string)
  })
  const minute = new Date(Number(name.slice('tick-'.length)) * 60_000).toISOString()
  const stamp = minute.replace('.000Z', 'Z')
  gyro.ok('wait', '--for=jsonpath={.status.lastSuccessfulTime}', 'cronjob/tick', '--timeout=60s')
  expectAll([
    [
      `get job ${name} -o jsonpath={.metadata.annotations}`,
      new RegExp(`cronjob-scheduled-timestamp":"${stamp}"`),
    ],
    ['get cronjob tick -o jsonpath={.status.lastScheduleTime}', stamp],
    [
      'describe cronjob tick',
      new RegExp(`SuccessfulCreate +\\S+ +cronjob-controller +Created job ${name}\n`),
    ],
    [
      'describe cronjob tick',
      new RegExp(`SawCompletedJob .*Saw completed job: ${name}, condition: Complete\n`),
    ],
  ])
  gyro.ok('delete', 'cronjob', 'tick')
})

test('a schedule that nobody can read is refused', () => {
  refuseAll([
    [
      'create cronjob bad --image=busybox:1 --schedule=never',
      /spec\.schedule: Invalid value: "never": expected exactly 5 fields, found 1: \[never\]/,
    ],
  ])
})
