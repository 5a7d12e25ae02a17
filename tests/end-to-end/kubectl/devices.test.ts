/** What a person does with devices: docs/behaviour/simulation/kubelet.md and scheduler.md, Devices. */
import { after, before, test } from 'node:test'
import { begin, expectAll, finish, gyro } from './session.ts'

before(begin)
after(finish)

const DRIVER = 'gpu.example.com'

const template = {
  apiVersion: 'resource.k8s.io/v1',
  kind: 'ResourceClaimTemplate',
  metadata: { name: 'one-gpu' },
  spec: {
    spec: { devices: { requests: [{ name: 'gpu', exactly: { deviceClassName: DRIVER } }] } },
  },
}

const pod = (name: string) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name },
  spec: {
    terminationGracePeriodSeconds: 0,
    containers: [{ name: 'c', image: 'cuda:1', resources: { claims: [{ name: 'gpu' }] } }],
    resourceClaims: [{ name: 'gpu', resourceClaimTemplateName: template.metadata.name }],
  },
})

test('a pod with a claim from a template comes up on the node that has the device, and goes when the device is bad', () => {
  expectAll([
    [`annotate node node-2 sim.kubelet/devices=${DRIVER}=1`, /annotated/],
    [`wait --for=create resourceslice/node-2-${DRIVER} --timeout=10s`, /condition met/],
    ['get resourceslices', new RegExp(`node-2-${DRIVER} +node-2 +${DRIVER} +node-2 `)],
    ['get deviceclasses', new RegExp(`${DRIVER} `)],
  ])
  gyro.apply(template)
  gyro.apply(pod('first'))
  expectAll([
    ['wait --for=condition=Ready pod/first --timeout=10s', /condition met/],
    ['get pod first -o wide', / Running .* node-2 /],
    ['get resourceclaims', /first-gpu-\S+ +allocated,reserved /],
  ])
  gyro.apply(pod('second'))
  expectAll([
    ['wait --for=condition=PodScheduled=false pod/second --timeout=10s', /condition met/],
    ['describe pod second', /3 cannot allocate all claims\. still not schedulable, preemption: /],
  ])
  const taint = { key: 'bad', effect: 'NoExecute' }
  const path = '/spec/devices/0/taints'
  const patch = JSON.stringify([{ op: 'add', path, value: [taint] }])
  expectAll([
    [`patch resourceslice node-2-${DRIVER} --type=json -p ${patch}`, /patched/],
    ['wait --for=delete pod/first --timeout=20s', ''],
    [
      'events --for pod/first',
      /Normal +DeviceTaintManagerEviction +Pod\/first +Marking for deletion/,
    ],
    [
      'wait --for=delete resourceclaim --field-selector=metadata.name!=x --timeout=1s -l none=none',
      '',
    ],
    ['delete pod second', /deleted/],
    ['delete resourceclaimtemplate one-gpu', /deleted/],
    ['annotate node node-2 sim.kubelet/devices-', /annotated/],
    [`wait --for=delete resourceslice/node-2-${DRIVER} --timeout=10s`, ''],
  ])
})
