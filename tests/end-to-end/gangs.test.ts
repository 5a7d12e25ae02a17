/** `gyro up` with GangScheduling: the pods of a Job that is a gang get their nodes all or none. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { eventually, startGyro } from './gyro-process.ts'
import type { GyroProcess } from './gyro-process.ts'

let gyro: GyroProcess
before(async () => {
  gyro = await startGyro([
    '--nodes=1',
    '--runtime-config=scheduling.k8s.io/v1alpha2=true',
    '--feature-gates=GenericWorkload=true,GangScheduling=true,WorkloadWithJob=true',
  ])
})
after(() => gyro.stop())

const container = (cpu: string) => ({
  name: 'c',
  image: 'work:1',
  resources: { requests: { cpu } },
})

test('a Job without room for all of its pods has none of them on a node, and all of them once there is room', async () => {
  gyro.apply({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'large' },
    spec: { containers: [container('4')], terminationGracePeriodSeconds: 1 },
  })
  gyro.ok('wait', '--for=condition=Ready', 'pod/large', '--timeout=60s')
  const size = { completions: 3, parallelism: 3, completionMode: 'Indexed' }
  const template = { spec: { restartPolicy: 'Never', containers: [container('2')] } }
  gyro.apply({
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name: 'work' },
    spec: { ...size, template },
  })
  const group = await eventually('a PodGroup that does not fit', 30_000, () => {
    const [found] = gyro.json('get', 'podgroups').items
    return found?.status?.conditions?.length > 0 ? found : undefined
  })
  const [condition] = group.status.conditions
  assert.deepEqual(
    [condition.type, condition.status, condition.reason, condition.message],
    ['PodGroupScheduled', 'False', 'Unschedulable', 'pod group is unschedulable'],
  )
  assert.match(gyro.ok('get', 'podgroups'), / Gang +work-\w+ +Unschedulable /)
  const nodesOf = (): readonly (string | undefined)[] =>
    gyro
      .json('get', 'pods', '-l', 'job-name=work')
      .items.map((pod: { spec: { nodeName?: string } }) => pod.spec.nodeName)
  assert.deepEqual(nodesOf(), [undefined, undefined, undefined])
  gyro.ok('delete', 'pod', 'large')
  gyro.ok('wait', '--for=condition=PodGroupScheduled', `podgroup/${group.metadata.name}`)
  gyro.ok('wait', '--for=condition=Complete', 'job/work', '--timeout=60s')
  assert.equal(new Set(nodesOf()).size, 1)
  assert.match(gyro.ok('get', 'podgroups'), / Scheduled /)
})
