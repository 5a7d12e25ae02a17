/** Commands of kubectl that read, and that ask who may do what. Contract: docs/behaviour/api-server/kubectl.md. */
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { generateKeyPairSync } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { after, before, describe, test } from 'node:test'
import {
  begin,
  cells,
  configMap,
  deployment,
  file,
  finish,
  folder,
  gyro,
} from './kubectl-session.ts'

before(begin)
after(finish)

describe('what the server is', () => {
  test('version, cluster-info, api-versions, api-resources', () => {
    assert.match(gyro.json('version').serverVersion.gitVersion, /^v1\.36\./)
    assert.match(gyro.ok('cluster-info'), new RegExp(`is running at .*${gyro.server}`))
    assert.ok(gyro.ok('api-versions').split('\n').includes('apps/v1'))
    const rows = cells(gyro.ok('api-resources', '--no-headers'))
    assert.ok(rows.some((row) => row.join() === 'deployments,deploy,apps/v1,true,Deployment'))
    assert.match(gyro.ok('get', '--raw', '/readyz'), /^ok/)
  })

  test('explain shows group, kind, version and field', () => {
    const text = gyro.ok('explain', 'deploy.spec.replicas')
    assert.match(
      text,
      /GROUP:\s+apps\nKIND:\s+Deployment\nVERSION:\s+v1\n\nFIELD: replicas <integer>/,
    )
    assert.match(
      gyro.ok('explain', 'pod', '--recursive'),
      /\n {2}spec\t<PodSpec>\n[^]*\n {6}image\t<string>/,
    )
  })

  test('config, completion, options, kustomize, plugin', () => {
    assert.equal(gyro.ok('config', 'current-context').trim(), 'gyro')
    assert.match(gyro.ok('completion', 'bash'), /complete -o/)
    assert.match(gyro.ok('options'), /--kubeconfig/)
    assert.match(gyro.kubectl('plugin', 'list').stderr, /plugin/)
    const own = join(folder, 'kustom')
    mkdirSync(own)
    writeFileSync(join(own, 'kustomization.yaml'), 'namePrefix: pre-\nresources: [map.json]\n')
    writeFileSync(join(own, 'map.json'), JSON.stringify(configMap('k', { a: 'b' })))
    assert.match(gyro.ok('kustomize', own), /name: pre-k/)
    assert.equal(gyro.ok('apply', '-k', own), 'configmap/pre-k created\n')
  })
})

describe('reading', () => {
  before(() => {
    gyro.ok('create', '-f', file('read.json', deployment('read')))
    gyro.ok('rollout', 'status', 'deploy/read')
  })

  test('get: tables, wide, several types, all', () => {
    const [head, row] = cells(gyro.ok('get', 'deploy', 'read'))
    assert.deepEqual(head, ['NAME', 'READY', 'UP-TO-DATE', 'AVAILABLE', 'AGE'])
    assert.deepEqual(row!.slice(0, 4), ['read', '2/2', '2', '2'])
    const wide = cells(gyro.ok('get', 'pods', '-l', 'app=read', '-o', 'wide', '--no-headers'))
    assert.equal(wide.length, 2)
    assert.ok(wide.every((cell) => /^node-\d$/.test(cell[6]!)))
    const all = gyro.ok('get', 'all')
    for (const part of [
      'pod/read-',
      'service/kubernetes',
      'deployment.apps/read',
      'replicaset.apps/read-',
    ])
      assert.ok(all.includes(part), part)
    assert.match(gyro.ok('get', 'pods', '-A', '--chunk-size=1'), /^NAMESPACE +NAME/)
    const scale = cells(gyro.ok('get', 'deploy', 'read', '--subresource=scale'))
    assert.deepEqual([scale[0]![1], scale[1]![1]], ['DESIRED', '2'])
  })

  test('get: every output format, sorting, selectors', () => {
    const names = gyro.ok('get', 'pods', '-l', 'app=read', '-o', 'name').trim().split('\n').sort()
    assert.equal(names.length, 2)
    const sorted = cells(
      gyro.ok('get', 'pods', '-l', 'app=read', '--sort-by=.metadata.name', '--no-headers'),
    )
    assert.deepEqual(
      sorted.map(([name]) => `pod/${name}`),
      names,
    )
    assert.equal(gyro.ok('get', 'deploy', 'read', '-o', 'jsonpath={.spec.replicas}'), '2')
    assert.equal(gyro.ok('get', 'deploy', 'read', '-o', 'go-template={{.metadata.name}}'), 'read')
    assert.match(
      gyro.ok('get', 'deploy', 'read', '-o', 'yaml'),
      /^apiVersion: apps\/v1\nkind: Deployment\n/,
    )
    const columns = cells(
      gyro.ok('get', 'deploy', 'read', '-o', 'custom-columns=N:.metadata.name,R:.spec.replicas'),
    )
    assert.deepEqual(columns, [
      ['N', 'R'],
      ['read', '2'],
    ])
    assert.equal(
      gyro.json('get', 'pods', '-l', 'app=read', '--field-selector', 'status.phase=Running').items
        .length,
      2,
    )
    assert.equal(gyro.json('get', 'pods', '-l', 'app=nobody').items.length, 0)
  })

  test('get: what is not there', () => {
    const table: readonly [readonly string[], RegExp][] = [
      [['nosuch'], /^error: the server doesn't have a resource type "nosuch"/],
      [['cm', 'x'], /^Error from server \(NotFound\): configmaps "x" not found/],
      [
        ['cm', 'x', '-n', 'missing'],
        /^Error from server \(NotFound\): namespaces "missing" not found/,
      ],
    ]
    for (const [words, expected] of table) {
      const { code, stderr } = gyro.kubectl('get', ...words)
      assert.equal(code, 1)
      assert.match(stderr, expected)
    }
    assert.equal(gyro.ok('get', 'cm', 'x', '--ignore-not-found'), '')
  })

  test('get -w: the rows there are, new ones as they come, the deleted one last', async () => {
    const watching = spawn(
      'kubectl',
      ['get', 'cm', '-l', 'watched', '-w', '--output-watch-events'],
      {
        env: { ...process.env, KUBECONFIG: gyro.kubeconfig },
      },
    )
    const lines = createInterface({ input: watching.stdout })[Symbol.asyncIterator]()
    gyro.ok('create', '-f', file('w.json', configMap('w', { a: 'b' }, { watched: '' })))
    const next = async (): Promise<string[]> =>
      cells((await lines.next()).value as string)[0]!.slice(0, 2)
    assert.deepEqual(await next(), ['EVENT', 'NAME'])
    assert.deepEqual(await next(), ['ADDED', 'w'])
    gyro.ok('delete', 'cm', 'w')
    assert.deepEqual(await next(), ['DELETED', 'w'])
    watching.kill()
  })

  test('describe of the common kinds, with their events', () => {
    const pod = gyro.ok('get', 'pods', '-l', 'app=read', '-o', 'name').split('\n')[0]!
    const table: readonly [readonly string[], RegExp][] = [
      [[pod], /Status: +Running[^]*Events:[^]*Started[^]*Container started/],
      [
        ['deploy', 'read'],
        /2 desired \| 2 updated \| 2 total \| 2 available[^]*Scaled up replica set/,
      ],
      [['rs', '-l', 'app=read'], /Pods Status: +2 Running/],
      [['node', 'node-1'], /HolderIdentity: +node-1[^]*Non-terminated Pods:[^]*NodeReady/],
      [['ns', 'default'], /Status: +Active/],
      [['svc', 'kubernetes'], /Port: +https +443\/TCP/],
      [['cm', 'kube-root-ca.crt'], /BEGIN CERTIFICATE/],
      [['sa', 'default'], /Name: +default/],
      [['clusterrole', 'cluster-admin'], /\*\.\* +\[\] +\[\] +\[\*\]/],
      [['lease', 'node-1', '-n', 'kube-node-lease'], /Holder Identity: +node-1/],
      [['apiservice', 'v1.apps'], /Reason: +Local/],
    ]
    for (const [words, expected] of table) assert.match(gyro.ok('describe', ...words), expected)
    assert.match(gyro.kubectl('describe', 'cm', 'nosuch').stderr, /configmaps "nosuch" not found/)
  })

  test('events', () => {
    const text = gyro.ok('events', '--for', 'deploy/read')
    assert.match(text, /Normal +ScalingReplicaSet +Deployment\/read +Scaled up replica set/)
    assert.match(gyro.ok('get', 'events', '--field-selector', 'reason=NodeReady'), /node\/node-1/)
  })

  test('top: what simulated pods use', () => {
    const nodes = cells(gyro.ok('top', 'nodes', '--no-headers'))
    assert.deepEqual(
      nodes.map(([name]) => name),
      ['node-1', 'node-2', 'node-3'],
    )
    assert.ok(nodes.every(([, cpu, , memory]) => /^\d+m$/.test(cpu!) && /^\d+Mi$/.test(memory!)))
    const pods = cells(gyro.ok('top', 'pods', '-l', 'app=read', '--containers', '--no-headers'))
    assert.deepEqual(
      pods.map((cell) => cell[1]),
      ['c', 'c'],
    )
  })
})

describe('who may do what', () => {
  test('auth can-i, whoami, reconcile; create token', () => {
    assert.equal(gyro.ok('auth', 'can-i', 'create', 'pods'), 'yes\n')
    const refused = gyro.kubectl('auth', 'can-i', 'delete', 'pods', '--as=nobody')
    assert.deepEqual([refused.code, refused.stdout], [1, 'no\n'])
    assert.match(
      gyro.ok('auth', 'can-i', '--list'),
      /^Resources +Non-Resource URLs +Resource Names +Verbs/,
    )
    assert.match(gyro.ok('auth', 'whoami'), /system:masters/)
    const rules = [{ apiGroups: [''], resources: ['pods'], verbs: ['get', 'list'] }]
    const role = {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRole',
      metadata: { name: 'reader' },
      rules,
    }
    assert.match(gyro.ok('auth', 'reconcile', '-f', file('role.json', role)), /reader reconciled/)
    gyro.ok(
      'create',
      'clusterrolebinding',
      'reader',
      '--clusterrole=reader',
      '--serviceaccount=default:default',
    )
    const token = gyro.ok('create', 'token', 'default').trim()
    const account = [
      '--token',
      token,
      '--kubeconfig',
      '/dev/null',
      '--server',
      gyro.server,
      '--insecure-skip-tls-verify',
    ]
    assert.match(gyro.ok(...account, 'auth', 'whoami'), /system:serviceaccount:default:default/)
    gyro.ok(...account, 'get', 'pods')
    assert.match(
      gyro.kubectl(...account, 'get', 'secrets').stderr,
      /\(Forbidden\).*cannot list resource "secrets"/,
    )
  })

  test('certificate approve, deny', () => {
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    const key = file('bob.pem', privateKey.export({ type: 'pkcs8', format: 'pem' }) as string)
    const signed = spawnSync('openssl', ['req', '-new', '-key', key, '-subj', '/CN=bob'])
    const request = signed.stdout.toString('base64')
    for (const name of ['yes', 'no']) {
      gyro.apply({
        apiVersion: 'certificates.k8s.io/v1',
        kind: 'CertificateSigningRequest',
        metadata: { name },
        spec: {
          request,
          signerName: 'kubernetes.io/kube-apiserver-client',
          usages: ['client auth'],
        },
      })
    }
    gyro.ok('certificate', 'approve', 'yes')
    gyro.ok('certificate', 'deny', 'no')
    const [condition] = gyro.json('get', 'csr', 'yes').status.conditions
    assert.deepEqual([condition.type, condition.reason], ['Approved', 'KubectlApprove'])
    assert.match(gyro.ok('get', 'csr', 'no'), /Denied/)
  })
})
