import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resources } from '@gyropilot/api'
import type { Namespace, ServiceAccount } from '@gyropilot/api'
import { DeletedFinalStateUnknown, SharedInformerFactory } from '@gyropilot/runtime'
import { drive, fakeInformers, startLoop, testContext } from '@gyropilot/runtime/testing'
import type { DriveOptions } from '@gyropilot/runtime/testing'
import { refused } from '../workload-support/fixtures.ts'
import { defaultControllersConfiguration } from '../configuration.ts'
import { ENSURED_ACCOUNTS, QUEUE_NAME, WORKERS } from './config.ts'
import { observe } from './observe.ts'
import { reconcile } from './reconcile.ts'
import { namespaceWatch, serviceAccountWatch } from './watches.ts'
import { serviceAccountController } from './index.ts'

function namespace(
  phase: 'Active' | 'Terminating' | undefined = 'Active',
  resourceVersion = '1',
): Namespace {
  return {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: 'ns', resourceVersion },
    status: phase === undefined ? {} : { phase },
  }
}

function account(name: string): ServiceAccount {
  return { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name, namespace: 'ns' } }
}

function sync(
  objects: readonly (Namespace | ServiceAccount)[],
  ensured = ['default'],
  options: DriveOptions = {},
) {
  const informers = fakeInformers(objects)
  const listers = {
    namespaces: informers.informer(resources.namespaces).lister,
    serviceAccounts: informers.informer(resources.serviceaccounts).lister,
  }
  const observed = observe('ns', listers, ensured)
  if (observed === undefined) return { created: [], error: undefined }
  const driven = drive(reconcile(observed), options)
  return {
    created: driven.writes.map((write) =>
      write.verb === 'create' ? write.object.metadata?.name : write.verb,
    ),
    error: driven.result?.error,
    writes: driven.writes,
  }
}

const cases: readonly {
  title: string
  objects: readonly (Namespace | ServiceAccount)[]
  ensured?: string[]
  created: string[]
}[] = [
  {
    title: 'Given a new active namespace without accounts, then one CREATE per ensured account',
    objects: [namespace()],
    ensured: ['one', 'two'],
    created: ['one', 'two'],
  },
  {
    title: 'Given two ensured accounts and one present, then only the missing one is created',
    objects: [namespace(), account('one')],
    ensured: ['one', 'two'],
    created: ['two'],
  },
  {
    title: 'Given an updated active namespace without accounts, then CREATE',
    objects: [namespace()],
    created: ['default'],
  },
  {
    title: 'Given a new active namespace with all accounts, then no call',
    objects: [namespace(), account('default')],
    created: [],
  },
  {
    title: 'Given a new or updated terminating namespace, then no call',
    objects: [namespace('Terminating')],
    created: [],
  },
  {
    title: 'An empty phase counts as not active',
    objects: [{ ...namespace(), status: {} }],
    created: [],
  },
  {
    title: 'Given a deleted account without namespace in cache, then no call',
    objects: [],
    created: [],
  },
  {
    title: 'Given a deleted `default` in an active namespace, then CREATE',
    objects: [namespace()],
    created: ['default'],
  },
  {
    title:
      'Given a deleted `default` in an active namespace, then CREATE; in a terminating one, none',
    objects: [namespace('Terminating')],
    created: [],
  },
  {
    title:
      'Given a deleted unmanaged account in an active or terminating namespace, then no CREATE when the managed ones exist',
    objects: [namespace(), account('default')],
    created: [],
  },
  {
    title: 'Given a deleted unmanaged account in a terminating namespace, then no CREATE',
    objects: [namespace('Terminating'), account('default')],
    created: [],
  },
]
for (const { title, objects, ensured, created } of cases) {
  test(title, () => assert.deepEqual(sync(objects, ensured).created, created))
}

test('the account has name and namespace and nothing else', () => {
  assert.deepEqual(sync([namespace()]).writes, [
    {
      verb: 'create',
      type: resources.serviceaccounts,
      namespace: 'ns',
      object: {
        apiVersion: 'v1',
        kind: 'ServiceAccount',
        metadata: { name: 'default', namespace: 'ns' },
      },
    },
  ])
})

test('AlreadyExists and a terminating namespace are no errors', () => {
  assert.equal(
    sync([namespace()], ['default'], { onWrite: () => refused(409, 'AlreadyExists') }).error,
    undefined,
  )
  const terminating = refused(403, 'Forbidden', 'x', 'NamespaceTerminating')
  assert.equal(sync([namespace()], ['default'], { onWrite: () => terminating }).error, undefined)
})

test('Any other error (404 of a vanished namespace included): remembered; the other accounts are still tried', () => {
  const { created, error } = sync([namespace()], ['one', 'two'], {
    onWrite: (_, index) => refused(404, 'NotFound', `gone ${index}`),
  })
  assert.deepEqual(created, ['one', 'two'])
  assert.equal((error as Error).message, '[gone 0, gone 1]')
})

test('a namespace is queued when added or updated in any phase, not by resyncs and not when deleted', () => {
  assert.deepEqual([...namespaceWatch.onAdd!(namespace('Terminating'))], ['ns'])
  assert.deepEqual(
    [...namespaceWatch.onUpdate!(namespace(), namespace('Terminating', '2'))],
    ['ns'],
  )
  assert.deepEqual([...namespaceWatch.onUpdate!(namespace(), namespace())], [])
  assert.equal(namespaceWatch.onDelete, undefined)
})

test('a deleted account of any name queues its namespace, tombstones included; adds and updates do not', () => {
  assert.deepEqual([...serviceAccountWatch.onDelete!(account('other'))], ['ns'])
  assert.deepEqual(
    [
      ...serviceAccountWatch.onDelete!(
        new DeletedFinalStateUnknown<ServiceAccount>('ns/default', undefined),
      ),
    ],
    ['ns'],
  )
  assert.deepEqual(
    [serviceAccountWatch.onAdd, serviceAccountWatch.onUpdate],
    [undefined, undefined],
  )
})

test('every active namespace has the account default, and with it there is nothing to tell', () => {
  assert.deepEqual(ENSURED_ACCOUNTS, ['default'])
  assert.equal(drive(reconcile({ namespace: namespace(), missing: [] })).result, undefined)
  assert.equal(drive(reconcile({ namespace: namespace(), missing: ['default'] })).result, undefined)
})

test('names are those of the page', () => {
  const { name, aliases, serviceAccount, enabledByDefault } = serviceAccountController
  assert.deepEqual(
    [name, aliases, serviceAccount, enabledByDefault],
    ['serviceaccount-controller', ['serviceaccount'], 'service-account-controller', true],
  )
})

test('queue, worker and watches are those of the page', () => {
  assert.deepEqual([QUEUE_NAME, WORKERS], ['serviceaccount', 1])
  assert.deepEqual(
    [namespaceWatch.type, serviceAccountWatch.type],
    [resources.namespaces, resources.serviceaccounts],
  )
})

test('at work it gives each namespace its account, and a deleted one back', async () => {
  const context = testContext({
    name: 'serviceaccount-controller',
    configuration: defaultControllersConfiguration,
  })
  const { client, clock, random, logger } = context
  const informers = new SharedInformerFactory({ client, clock, random, logger })
  client.put(resources.namespaces, namespace())
  const controller = await serviceAccountController.build({ ...context, informers })
  const { stop } = startLoop(controller, clock, informers)
  await clock.advance(1_000)
  const names = () => client.list(resources.serviceaccounts).map(({ metadata }) => metadata?.name)
  const first = names()
  client.remove(resources.serviceaccounts, account('default'))
  const gone = names()
  await clock.advance(1_000)
  const again = names()
  client.put(resources.namespaces, { ...namespace(), metadata: { name: 'later' } })
  await clock.advance(1_000)
  const last = names()
  await stop()
  assert.deepEqual([first, gone, again], [['default'], [], ['default']])
  assert.deepEqual(last, ['default', 'default'])
})
