/** Jobs as a person runs them. Contract: docs/behaviour/api-server/kubectl.md, docs/behaviour/controllers/job-controller.md. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { begin, cells, expectAll, finish, gyro } from './session.ts'

before(begin)
after(finish)

const job = (name: string, spec: object = {}, annotations: object = {}) => ({
  apiVersion: 'batch/v1',
  kind: 'Job',
  metadata: { name },
  spec: {
    template: {
      metadata: { annotations },
      spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'busybox:1' }] },
    },
    ...spec,
  },
})

test('a Job is made, waited for, looked at and deleted with its pods', () => {
  gyro.apply(job('work', { completions: 3, parallelism: 3, completionMode: 'Indexed' }))
  gyro.ok('wait', '--for=condition=complete', 'job/work', '--timeout=60s')
  const [head, row] = cells(gyro.ok('get', 'job', 'work'))
  assert.deepEqual(head, ['NAME', 'STATUS', 'COMPLETIONS', 'DURATION', 'AGE'])
  assert.deepEqual(row!.slice(0, 3), ['work', 'Complete', '3/3'])
  expectAll([
    ['get pods -l job-name=work -o name', /^(pod\/work-[012]-\w+\n){3}$/],
    ['describe job work', /Pods Statuses: +0 Active[^]*3 Succeeded[^]*\nCompleted Indexes: +0-2\n/],
    ['describe job work', /SuccessfulCreate[^]*Completed +\S+ +job-controller +Job completed/],
    ['get job work -o jsonpath={.status.uncountedTerminatedPods}', '{}'],
    ['delete job work', /"work" deleted/],
    ['get pods -l job-name=work -o name', ''],
  ])
})

test('a Job is suspended and resumed', () => {
  gyro.apply(job('rests', {}, { 'sim.kubelet/run': '300s' }))
  gyro.ok('wait', '--for=jsonpath={.status.ready}=1', 'job/rests', '--timeout=60s')
  gyro.ok('patch', 'job', 'rests', '--type=merge', '-p', '{"spec":{"suspend":true}}')
  gyro.ok('wait', '--for=condition=suspended', 'job/rests', '--timeout=60s')
  gyro.ok('wait', '--for=jsonpath={.status.terminating}=0', 'job/rests', '--timeout=60s')
  assert.equal(cells(gyro.ok('get', 'job', 'rests'))[1]![1], 'Suspended')
  assert.equal(gyro.ok('get', 'pods', '-l', 'job-name=rests', '-o', 'name'), '')
  gyro.ok('patch', 'job', 'rests', '--type=merge', '-p', '{"spec":{"suspend":false}}')
  gyro.ok('wait', '--for=jsonpath={.status.ready}=1', 'job/rests', '--timeout=60s')
})

test('a Job that fails says so, and goes when its TTL is over', () => {
  const failing = { 'sim.kubelet/exit-code': '1' }
  gyro.apply(job('fails', { backoffLimit: 0, ttlSecondsAfterFinished: 2 }, failing))
  gyro.ok('wait', '--for=condition=failed', 'job/fails', '--timeout=60s')
  assert.match(
    gyro.ok('describe', 'job', 'fails'),
    /Warning +BackoffLimitExceeded +\S+ +job-controller +Job has reached the specified backoff limit/,
  )
  gyro.ok('wait', '--for=delete', 'job/fails', '--timeout=60s')
  assert.equal(gyro.ok('get', 'pods', '-l', 'job-name=fails', '-o', 'name'), '')
})
