/** `kubectl describe` of every kind that it knows, against what it prints of a kube-apiserver. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { begin, deployment, expectAll, finish, gyro, minor, refuseAll } from './session.ts'

before(async () => {
  await begin()
  gyro.ok('create', '-f', join(import.meta.dirname, 'described.yaml'))
  gyro.apply(deployment('read'))
  gyro.ok('rollout', 'status', 'deploy/read')
})
after(finish)

test('describe of workloads: numbers, templates, events', () => {
  const [pod] = gyro.ok('get', 'pods', '-l', 'app=read', '-o', 'name').split('\n')
  expectAll([
    [
      `describe ${pod}`,
      /^Name: +read-[^]*\nNode: +node-\d\/[^]*\nStatus: +Running[^]*Controlled By: +ReplicaSet\/read-[^]*\n {4}State: +Running[^]*QoS Class: +BestEffort[^]*Events:[^]*Scheduled[^]*Started/,
    ],
    [
      'describe deploy read',
      /2 desired \| 2 updated \| 2 total \| 2 available[^]*NewReplicaSet: +read-\w+ \(2\/2 replicas created\)\nEvents:[^]*ScalingReplicaSet .*Scaled up replica set/,
    ],
    [
      'describe rs -l app=read --show-events',
      /Controlled By: +Deployment\/read\nReplicas: +2 current \/ 2 desired\nPods Status: +2 Running \/ 0 Waiting[^]*SuccessfulCreate .*Created pod: read-/,
    ],
    ['describe rc rc', /Selector: +a=b\n[^]*Replicas: +0 current \/ 0 desired/],
    ['describe sts sts', /Replicas: +0 desired \| \d total\nUpdate Strategy: +RollingUpdate/],
    [
      'describe ds ds',
      /Node-Selector: +nowhere=here\n[^]*Desired Number of Nodes Scheduled: 0\n[^]*Pods Status: +0 Running/,
    ],
    [
      'describe job job',
      /Parallelism: +1\nCompletions: +1\nCompletion Mode: +NonIndexed\nSuspend: +true\nBackoff Limit: +6/,
    ],
    [
      'describe cj cj',
      /Schedule: +@daily\nConcurrency Policy: +Allow\nSuspend: +True\n[^]*Last Schedule Time: +<unset>/,
    ],
    [
      'describe hpa hpa',
      /Reference: +Deployment\/none\nMetrics: [^]*resource cpu on pods +\(as a percentage of request\): +<unknown> \/ 50%\nMin replicas: +1\nMax replicas: +3/,
    ],
    ['describe pdb pdb', /Min available: +1\nSelector: +z=z\nStatus:\n +Allowed disruptions: +0/],
    [
      'describe pc pc',
      /Value: +7\n[^]*PreemptionPolicy: +PreemptLowerPriority\nDescription: +seven/,
    ],
  ])
})

test('describe of the network: services with endpoints, policies, address ranges', () => {
  expectAll([
    [
      'describe svc svc',
      /Selector: +a=b\nType: +ClusterIP\n[^]*IP: +10\.0\.0\.77\n[^]*Port: +web +80\/TCP\nTargetPort: +8080\/TCP\nEndpoints: *\n/,
    ],
    ['describe svc kubernetes', /Port: +https +443\/TCP[^]*Endpoints: +[\d.]+:\d+\n/],
    ['describe ep ep', /Subsets:\n +Addresses: +10\.9\.0\.1\n[^]*<unset> +80 +TCP/],
    [
      'describe endpointslice slice',
      /AddressType: +IPv4\n[^]*- Addresses: +10\.9\.0\.2\n[^]*NodeName: +node-1/,
    ],
    ['describe ing ing', /Ingress Class: +ic\n[^]*a\.example +\n +\/ +svc:80 \(\)\n/],
    ['describe ingressclass ic', /Controller: +example\.com\/ic/],
    ['get ingressclass ic --no-headers', /^ic \(default\) +example\.com\/ic +<none> /],
    [
      'describe netpol np',
      /PodSelector: +a=b\n +Allowing ingress traffic:\n +To Port: 80\/TCP\n +From:\n +PodSelector: <none>\n +Not affecting egress traffic\n +Policy Types: Ingress/,
    ],
  ])
})

test('describe of configuration and storage', () => {
  expectAll([
    ['describe secret secret', /Type: +Opaque\n\nData\n====\nkey: +5 bytes\n$/],
    ['describe cm kube-root-ca.crt', /Data\n====\nca\.crt:\n----\n-----BEGIN CERTIFICATE/],
    [
      'describe limitrange lr -n limited',
      /Container +cpu +- +4 +4 +4 +-\n|Container +memory +- +- +32Mi +64Mi +-\n/,
    ],
    ['describe quota rq -n limited', /Resource +Used +Hard\n-+ +-+ +-+\n/],
    [
      'describe ns limited',
      /Status: +Active\n\nResource Quotas\n +Name: +rq\n[^]*Resource Limits\n Type +Resource +Min +Max/,
    ],
    [
      'describe pv pv',
      /StorageClass: +slow\n[^]*Reclaim Policy: +Retain\nAccess Modes: +RWO\nVolumeMode: +Filesystem\nCapacity: +1Gi\n[^]*Type: +HostPath \(bare host directory volume\)\n +Path: +\/x\n/,
    ],
    ['describe pvc pvc', /StorageClass: +slow\nStatus: +Pending\n[^]*Used By: +<none>/],
    [
      'describe sc slow',
      /Provisioner: +example\.com\/none\n[^]*ReclaimPolicy: +Delete\nVolumeBindingMode: +Immediate/,
    ],
    ['describe csinode node-9', /Spec:\n +Drivers:\n +d\.example\.com:\n +Node ID: +x\n/],
  ])
})

test('describe of nodes and of who may do what', () => {
  expectAll([
    [
      'describe node node-1',
      /Lease:\n +HolderIdentity: +node-1[^]*Conditions:[^]*Ready +True [^]*Non-terminated Pods: [^]*Allocated resources:[^]*NodeReady/,
    ],
    [
      'describe sa default',
      /^Name: +default\nNamespace: +default\n[^]*Image pull secrets: +<none>/,
    ],
    [
      'describe role role',
      /Resources +Non-Resource URLs +Resource Names +Verbs\n[^]*pods +\[\] +\[\] +\[get\]/,
    ],
    ['describe clusterrole cluster-admin', /\*\.\* +\[\] +\[\] +\[\*\]\n +\[\*\] +\[\] +\[\*\]/],
    [
      'describe rolebinding rb',
      /Role:\n +Kind: +Role\n +Name: +role\nSubjects:\n[^]*ServiceAccount +robot +default/,
    ],
    ['describe clusterrolebinding crb', /Kind: +ClusterRole\n +Name: +view\n[^]*User +jane/],
    ['describe lease node-1 -n kube-node-lease', /^Name: +node-1\n[^]*Holder Identity: +node-1\n/],
    ['describe apiservice v1.apps', /Reason: +Local\n/],
    ['describe flowschema exempt', /Matching Precedence: +1\n/],
  ])
})

test('describe of kinds that became stable after 1.32, for kubectls that ask for the stable version', () => {
  const table: readonly [string, number, RegExp][] = [
    ['describe servicecidr cidr', 33, /CIDRs: +10\.77\.0\.0\/24\n/],
    ['describe ipaddress 10.77.0.5', 33, /Parent Reference:\n[^]*Resource: +services/],
    ['describe vac vac', 34, /DriverName: +d\.example\.com\nParameters: +iops=7/],
  ]
  for (const [line, since, expected] of table) {
    if (minor >= since) expectAll([[line, expected]])
    else refuseAll([[line, /the server could not find the requested resource/]])
  }
})

test('describe of several, by prefix, and of what is not there', () => {
  const both = gyro.ok('describe', 'pods', '-l', 'app=read')
  assert.equal(both.match(/^Name: +read-/gm)?.length, 2)
  // From 1.36 on events of several objects are shown on request only.
  assert.equal(/^Events:/m.test(both), minor < 36)
  expectAll([['describe sc sl', /^Name: +slow\n/]])
  refuseAll([
    ['describe cm nosuch', /^Error from server \(NotFound\): configmaps "nosuch" not found\n$/],
  ])
})
