/** Commands of kubectl that write, roll out and empty nodes. Contract: docs/behaviour/api-server/kubectl.md. */
import assert from 'node:assert/strict'
import { chmodSync } from 'node:fs'
import { after, before, describe, test } from 'node:test'
import { begin, configMap, deployment, fed, file, finish, gyro } from './kubectl-session.ts'

before(begin)
after(finish)

describe('writing', () => {
  test('create: from files, and by each of its subcommands', () => {
    const again = file('once.json', configMap('once', {}))
    assert.equal(gyro.ok('create', '-f', again), 'configmap/once created\n')
    assert.match(gyro.kubectl('create', '-f', again).stderr, /\(AlreadyExists\)/)
    const table: readonly [string, string][] = [
      ['ns made', 'namespace/made'],
      ['configmap made --from-literal=a=b', 'configmap/made'],
      ['secret generic made --from-literal=a=b', 'secret/made'],
      ['sa made', 'serviceaccount/made'],
      ['deployment made --image=nginx', 'deployment.apps/made'],
      ['job made --image=busybox', 'job.batch/made'],
      ['cronjob made --image=busybox --schedule=@daily', 'cronjob.batch/made'],
      ['job made-now --from=cronjob/made', 'job.batch/made-now'],
      ['role made --verb=get --resource=pods', 'role.rbac.authorization.k8s.io/made'],
      [
        'rolebinding made --role=made --serviceaccount=default:made',
        'rolebinding.rbac.authorization.k8s.io/made',
      ],
      ['clusterrole made --verb=get --resource=pods', 'clusterrole.rbac.authorization.k8s.io/made'],
      [
        'clusterrolebinding made --clusterrole=made --user=jane',
        'clusterrolebinding.rbac.authorization.k8s.io/made',
      ],
      ['quota made --hard=count/secrets=100 -n made', 'resourcequota/made'],
      ['pdb made --selector=app=nobody --min-available=1', 'poddisruptionbudget.policy/made'],
      ['ingress made --rule=a.example/x=web:80', 'ingress.networking.k8s.io/made'],
      ['priorityclass made --value=5', 'priorityclass.scheduling.k8s.io/made'],
      ['service clusterip made --tcp=80', 'service/made'],
    ]
    for (const [words, name] of table) {
      assert.equal(gyro.ok('create', ...words.split(' ')), `${name} created\n`)
    }
    const { data, metadata } = gyro.json('get', 'cm', 'made', '--show-managed-fields')
    assert.deepEqual([data, metadata.managedFields[0].manager], [{ a: 'b' }, 'kubectl-create'])
    const owner = gyro.json('get', 'job', 'made-now').metadata.ownerReferences[0]
    assert.deepEqual([owner.kind, owner.name], ['CronJob', 'made'])
  })

  test('create: an unknown field is refused and nothing is stored; dry runs store nothing', () => {
    const bad = { ...configMap('bad', {}), dta: {} }
    assert.match(
      gyro.kubectl('create', '-f', file('bad.json', bad)).stderr,
      /strict decoding error: unknown field "dta"/,
    )
    const dry = file('dry.json', configMap('dry', {}))
    assert.equal(
      gyro.ok('create', '-f', dry, '--dry-run=server'),
      'configmap/dry created (server dry run)\n',
    )
    assert.equal(
      gyro.ok('create', '-f', dry, '--dry-run=client'),
      'configmap/dry created (dry run)\n',
    )
    assert.equal(gyro.ok('get', 'cm', 'bad', 'dry', '--ignore-not-found'), '')
  })

  test('apply: created, unchanged, configured; diff says what would change', () => {
    const first = file('a1.json', deployment('applied'))
    const second = file('a2.json', deployment('applied', 'nginx:1.28'))
    assert.equal(gyro.ok('apply', '-f', first), 'deployment.apps/applied created\n')
    assert.equal(gyro.ok('apply', '-f', first), 'deployment.apps/applied unchanged\n')
    for (const more of [[], ['--server-side']]) {
      const { code, stdout } = gyro.kubectl('diff', ...more, '-f', second)
      assert.equal(code, 1)
      assert.match(stdout, /-\s+- image: nginx:1\.27\n\+\s+- image: nginx:1\.28/)
    }
    assert.equal(
      gyro.ok('apply', '-f', second, '--dry-run=server'),
      'deployment.apps/applied configured (server dry run)\n',
    )
    assert.equal(gyro.ok('apply', '-f', second), 'deployment.apps/applied configured\n')
    const { metadata, spec } = gyro.json('get', 'deploy', 'applied')
    assert.deepEqual(
      [metadata.generation, spec.template.spec.containers[0].image],
      [2, 'nginx:1.28'],
    )
    assert.equal(gyro.kubectl('diff', '-f', second).code, 0)
  })

  test('apply --server-side: takes over from client-side apply, conflicts, forced', () => {
    const own = file('s1.json', configMap('sided', { a: '1', b: '1' }))
    gyro.ok('apply', '-f', own)
    assert.equal(
      gyro.ok('apply', '--server-side', '-f', own),
      'configmap/sided serverside-applied\n',
    )
    const managers = gyro
      .json('get', 'cm', 'sided', '--show-managed-fields')
      .metadata.managedFields.map(
        (entry: { manager: string; operation: string }) => `${entry.manager} ${entry.operation}`,
      )
    assert.deepEqual(managers.sort(), ['kubectl Apply', 'kubectl-last-applied Apply'])
    gyro.ok('apply', '--server-side', '-f', file('s2.json', configMap('sided', { a: '1' })))
    assert.deepEqual(gyro.json('get', 'cm', 'sided').data, { a: '1' })
    gyro.ok('patch', 'cm', 'sided', '--type=merge', '-p', '{"data":{"a":"other"}}')
    const refused = gyro.kubectl('apply', '--server-side', '-f', own)
    assert.equal(refused.code, 1)
    assert.match(refused.stderr, /conflict with "kubectl-patch".*: \.data\.a/)
    gyro.ok('apply', '--server-side', '--force-conflicts', '-f', own)
    assert.deepEqual(gyro.json('get', 'cm', 'sided').data, { a: '1', b: '1' })
  })

  test('apply of a list; --prune removes what is not in the manifest any more', () => {
    const labels = { pruned: 'x' }
    const one = configMap('p1', { a: 'b' }, labels)
    const items = [one, configMap('p2', { a: 'b' }, labels)]
    gyro.apply({ apiVersion: 'v1', kind: 'List', items })
    const unknown = { apiVersion: 'v1', kind: 'List', items: [{ ...one, dta: {} }] }
    const refused = gyro.kubectl('apply', '-f', file('unknown.json', unknown))
    assert.match(refused.stderr, /unknown field "dta" in io\.k8s\.api\.core\.v1\.ConfigMap/)
    const said = gyro.ok(
      'apply',
      '-f',
      file('p1.json', one),
      '--prune',
      '-l',
      'pruned=x',
      '--prune-allowlist=core/v1/ConfigMap',
    )
    assert.equal(said, 'configmap/p1 unchanged\nconfigmap/p2 pruned\n')
  })

  test('patch of every type, edit, replace', () => {
    gyro.apply(configMap('changed', { k: 'v' }))
    gyro.ok('patch', 'cm', 'changed', '-p', '{"data":{"s":"1"}}')
    gyro.ok('patch', 'cm', 'changed', '--type=merge', '-p', '{"data":{"m":"1","s":null}}')
    gyro.ok(
      'patch',
      'cm',
      'changed',
      '--type=json',
      '-p',
      '[{"op":"add","path":"/data/j","value":"1"}]',
    )
    assert.deepEqual(gyro.json('get', 'cm', 'changed').data, { k: 'v', m: '1', j: '1' })
    const editor = file('editor.sh', '#!/bin/sh\nsed -i "s/k: v$/k: edited/" "$1"\n')
    chmodSync(editor, 0o755)
    assert.match(
      fed('', ['edit', 'cm', 'changed'], { EDITOR: editor }).stdout,
      /configmap\/changed edited/,
    )
    assert.equal(gyro.json('get', 'cm', 'changed').data.k, 'edited')
    assert.match(
      fed('', ['edit', 'cm', 'changed'], { EDITOR: 'true' }).stderr,
      /Edit cancelled, no changes made/,
    )
    const replacement = file('r.json', configMap('changed', { r: '1' }))
    assert.equal(gyro.ok('replace', '-f', replacement), 'configmap/changed replaced\n')
    assert.deepEqual(gyro.json('get', 'cm', 'changed').data, { r: '1' })
    const { uid } = gyro.json('get', 'cm', 'changed').metadata
    gyro.ok('replace', '--force', '-f', replacement)
    assert.notEqual(gyro.json('get', 'cm', 'changed').metadata.uid, uid)
  })

  test('label, annotate, set', () => {
    gyro.apply(deployment('marked', 'nginx:1', 0))
    assert.match(gyro.ok('label', 'deploy', 'marked', 'x=y'), / labeled/)
    assert.match(gyro.ok('label', 'deploy', 'marked', 'x=y'), / not labeled/)
    assert.match(
      gyro.kubectl('label', 'deploy', 'marked', 'x=z').stderr,
      /already has a value \(y\)/,
    )
    const stale = gyro.kubectl(
      'label',
      'deploy',
      'marked',
      'x=z',
      '--overwrite',
      '--resource-version=1',
    )
    assert.match(stale.stderr, /\(Conflict\)/)
    gyro.ok('label', 'deploy', 'marked', 'x-')
    gyro.ok('annotate', 'deploy', 'marked', 'note=hello')
    gyro.ok('set', 'image', 'deploy/marked', 'c=nginx:2')
    gyro.ok('set', 'env', 'deploy/marked', 'A=b')
    gyro.ok('set', 'resources', 'deploy/marked', '--limits=cpu=200m')
    gyro.ok('set', 'serviceaccount', 'deploy/marked', 'default')
    const { metadata, spec } = gyro.json('get', 'deploy', 'marked')
    const [container] = spec.template.spec.containers
    assert.equal(metadata.labels.x, undefined)
    assert.equal(metadata.annotations.note, 'hello')
    assert.deepEqual(
      [container.image, container.env, container.resources.limits],
      ['nginx:2', [{ name: 'A', value: 'b' }], { cpu: '200m' }],
    )
  })

  test('delete: waits, cascades, selects, forces', () => {
    gyro.apply(deployment('gone'))
    gyro.ok('rollout', 'status', 'deploy/gone')
    assert.equal(
      gyro.ok('delete', 'deploy', 'gone', '--cascade=foreground'),
      'deployment.apps "gone" deleted\n',
    )
    assert.equal(gyro.ok('get', 'rs,pods', '-l', 'app=gone', '-o', 'name'), '')
    gyro.apply(deployment('left'))
    gyro.ok('rollout', 'status', 'deploy/left')
    gyro.ok('delete', 'deploy', 'left', '--cascade=orphan')
    assert.match(
      gyro.ok('get', 'rs', '-l', 'app=left', '-o', 'name'),
      /^replicaset.apps\/left-\w+\n$/,
    )
    gyro.ok('delete', 'rs', '-l', 'app=left', '--cascade=orphan')
    const { stdout, stderr } = gyro.kubectl(
      'delete',
      'pods',
      '-l',
      'app=left',
      '--force',
      '--grace-period=0',
    )
    assert.match(stderr, /Warning: Immediate deletion/)
    assert.equal(stdout.match(/force deleted/g)?.length, 2)
    gyro.ok('create', 'ns', 'emptied')
    for (const name of ['a', 'b']) gyro.ok('create', 'cm', name, '-n', 'emptied')
    assert.match(
      gyro.ok('delete', 'cm', '--all', '-n', 'emptied', '--dry-run=server'),
      /"a" deleted \(server dry run\)/,
    )
    gyro.ok('delete', 'cm', 'a', 'b', '-n', 'emptied')
    assert.match(gyro.ok('delete', 'ns', 'emptied'), /namespace "emptied" deleted/)
    assert.equal(gyro.ok('delete', 'cm', 'a', '--ignore-not-found'), '')
    gyro.ok('run', 'brief', '--image=busybox')
    gyro.ok('delete', 'pod', 'brief', '--now', '--wait=false')
    gyro.ok('wait', '--for=delete', 'pod/brief', '--timeout=10s')
  })
})

describe('workloads', () => {
  test('scale, autoscale, expose', () => {
    gyro.apply(deployment('sized', 'nginx:1', 1))
    gyro.ok('scale', 'deploy', 'sized', '--replicas=4')
    assert.equal(gyro.json('get', 'deploy', 'sized').spec.replicas, 4)
    const wrong = gyro.kubectl('scale', 'deploy', 'sized', '--current-replicas=3', '--replicas=1')
    assert.equal(wrong.stderr, 'error: Expected replicas to be 3, was 4\n')
    gyro.ok('scale', 'deploy', 'sized', '--current-replicas=4', '--replicas=1')
    gyro.ok(
      'patch',
      'deploy',
      'sized',
      '--subresource=scale',
      '--type=merge',
      '-p',
      '{"spec":{"replicas":2}}',
    )
    assert.equal(gyro.json('get', 'deploy', 'sized').spec.replicas, 2)
    assert.match(
      gyro.ok('autoscale', 'deploy', 'sized', '--min=1', '--max=3', '--cpu-percent=50'),
      / autoscaled/,
    )
    assert.match(gyro.ok('describe', 'hpa', 'sized'), /Max replicas: +3/)
    gyro.ok('expose', 'deploy', 'sized', '--port=80')
    assert.deepEqual(gyro.json('get', 'svc', 'sized').spec.selector, { app: 'sized' })
  })

  test('rollout: status, history, undo, pause, resume, restart', () => {
    gyro.apply(deployment('rolled', 'nginx:1'))
    assert.match(gyro.ok('rollout', 'status', 'deploy/rolled'), /successfully rolled out\n$/)
    gyro.ok('set', 'image', 'deploy/rolled', 'c=nginx:2')
    gyro.ok('annotate', 'deploy', 'rolled', 'kubernetes.io/change-cause=second')
    const text = gyro.ok('rollout', 'status', 'deploy/rolled')
    assert.match(
      text,
      /Waiting for deployment "rolled" rollout to finish: [^]*successfully rolled out\n$/,
    )
    assert.match(gyro.ok('rollout', 'history', 'deploy/rolled'), /1 +<none>\n2 +second/)
    assert.match(
      gyro.ok('rollout', 'history', 'deploy/rolled', '--revision=1'),
      /Image:\s+nginx:1\n/,
    )
    gyro.ok('rollout', 'undo', 'deploy/rolled')
    const { template } = gyro.json('get', 'deploy', 'rolled').spec
    assert.deepEqual(
      [template.spec.containers[0].image, template.metadata.labels],
      ['nginx:1', { app: 'rolled' }],
    )
    gyro.ok('rollout', 'pause', 'deploy/rolled')
    assert.equal(gyro.json('get', 'deploy', 'rolled').spec.paused, true)
    assert.match(
      gyro.kubectl('rollout', 'restart', 'deploy/rolled').stderr,
      /can't restart paused deployment/,
    )
    gyro.ok('rollout', 'resume', 'deploy/rolled')
    gyro.ok('rollout', 'restart', 'deploy/rolled')
    const { annotations } = gyro.json('get', 'deploy', 'rolled').spec.template.metadata
    assert.match(annotations['kubectl.kubernetes.io/restartedAt'], /^\d{4}-/)
    gyro.ok('rollout', 'status', 'deploy/rolled')
  })

  test('wait: conditions, fields, creation, deletion, time', () => {
    gyro.ok('run', 'awaited', '--image=nginx', '--labels=app=awaited')
    gyro.ok('wait', '--for=create', 'pod/awaited', '--timeout=5s')
    gyro.ok('wait', '--for=condition=Ready', 'pod', '-l', 'app=awaited', '--timeout=10s')
    gyro.ok('wait', '--for=jsonpath={.status.phase}=Running', 'pod/awaited', '--timeout=5s')
    const { code, stderr } = gyro.kubectl(
      'wait',
      '--for=condition=Never',
      'pod/awaited',
      '--timeout=1s',
    )
    assert.deepEqual(
      [code, stderr],
      [1, 'error: timed out waiting for the condition on pods/awaited\n'],
    )
    gyro.ok('delete', 'pod', 'awaited', '--grace-period=1')
  })

  test('drain says which budget forbids it, and gives up in time', () => {
    gyro.apply(deployment('kept', 'nginx:1', 1))
    gyro.ok('create', 'pdb', 'kept', '--selector=app=kept', '--min-available=100%')
    gyro.ok('rollout', 'status', 'deploy/kept')
    // As the disruption controller says it, should it not run.
    const counts = { disruptionsAllowed: 0, currentHealthy: 1, desiredHealthy: 1, expectedPods: 1 }
    const status = JSON.stringify({ status: { ...counts, observedGeneration: 1 } })
    gyro.ok('patch', 'pdb', 'kept', '--subresource=status', '--type=merge', '-p', status)
    const [pod] = gyro.json('get', 'pods', '-l', 'app=kept').items
    const { nodeName } = pod.spec
    const { code, stderr } = gyro.kubectl(
      'drain',
      nodeName,
      '--pod-selector=app=kept',
      '--timeout=1s',
    )
    assert.equal(code, 1)
    assert.match(
      stderr,
      /will retry after 5s\): Cannot evict pod as it would violate the pod's disruption budget\./,
    )
    gyro.ok('uncordon', nodeName)
    gyro.ok('delete', 'deploy,pdb', 'kept', '--cascade=foreground')
  })

  test('taint, cordon, drain, uncordon', () => {
    assert.equal(gyro.ok('taint', 'node', 'node-1', 'k=v:NoSchedule'), 'node/node-1 tainted\n')
    assert.deepEqual(gyro.json('get', 'node', 'node-1').spec.taints, [
      { key: 'k', value: 'v', effect: 'NoSchedule' },
    ])
    gyro.ok('taint', 'node', 'node-1', 'k-')
    gyro.apply(deployment('drained', 'nginx:1', 3))
    gyro.ok('rollout', 'status', 'deploy/drained')
    const cordoned = gyro.kubectl('cordon', 'node-1')
    assert.deepEqual([cordoned.stdout, cordoned.stderr], ['node/node-1 cordoned\n', ''])
    assert.equal(gyro.ok('cordon', 'node-1'), 'node/node-1 already cordoned\n')
    assert.match(
      gyro.ok('drain', 'node-1', '--ignore-daemonsets', '--force', '--delete-emptydir-data'),
      /node\/node-1 drained/,
    )
    const there = gyro.json('get', 'pods', '-A', '--field-selector', 'spec.nodeName=node-1').items
    assert.deepEqual(
      there.filter(({ status }: { status: { phase: string } }) => status.phase === 'Running'),
      [],
    )
    assert.equal(gyro.ok('uncordon', 'node-1'), 'node/node-1 uncordoned\n')
    assert.equal(gyro.json('get', 'node', 'node-1').spec.unschedulable, undefined)
  })
})
