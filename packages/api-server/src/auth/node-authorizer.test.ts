/** What kube-apiserver 1.36.2 answered about the user system:node:OWN, in a cluster that had none of the named objects. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { RequestAttributes, UserInfo } from '../contracts.ts'
import { VirtualClock } from '@gyropilot/foundation'
import { createMemoryStore } from '../storage/memory-store.ts'
import { NodeAuthorizer } from './node-authorizer.ts'

const user: UserInfo = { name: 'system:node:OWN', groups: ['system:nodes'], extra: {} }

/** Resource, verbs, names, subresources, namespaces, whether spec.nodeName is selected, and the verdict. `-`: empty. */
const RECORDED: readonly string[] = [
  'secrets. get,list,watch - - default - No Object name found',
  'secrets. get,list,watch -,OWN,other - - - can only read namespaced object of this type',
  'secrets. get,list,watch -,OWN,other status -,default - cannot read subresource',
  "secrets. get,list,watch OWN,other - default - no relationship found between node 'OWN' and this object",
  'secrets. create,delete,deletecollection,patch,update -,OWN,other -,status -,default - can only read resources of this type',
  'configmaps. get,list,watch - - default - No Object name found',
  'configmaps. get,list,watch -,OWN,other - - - can only read namespaced object of this type',
  'configmaps. get,list,watch -,OWN,other status -,default - cannot read subresource',
  "configmaps. get,list,watch OWN,other - default - no relationship found between node 'OWN' and this object",
  'configmaps. create,delete,deletecollection,patch,update -,OWN,other -,status -,default - can only read resources of this type',
  'persistentvolumeclaims. get - - -,default - No Object name found',
  'persistentvolumeclaims. patch,update - status -,default - No Object name found',
  'persistentvolumeclaims. create,delete,deletecollection,get,list,watch -,OWN,other status -,default - can only get/update/patch this type',
  "persistentvolumeclaims. get OWN,other - -,default - no relationship found between node 'OWN' and this object",
  "persistentvolumeclaims. patch,update OWN,other status -,default - no relationship found between node 'OWN' and this object",
  'persistentvolumeclaims. create,delete,deletecollection,list,patch,update,watch -,OWN,other - -,default - can only get individual resources of this type',
  'persistentvolumes. get - - -,default - No Object name found',
  'persistentvolumes. get -,OWN,other status -,default - cannot get subresource',
  "persistentvolumes. get OWN,other - -,default - no relationship found between node 'OWN' and this object",
  'persistentvolumes. create,delete,deletecollection,list,patch,update,watch -,OWN,other -,status -,default - can only get individual resources of this type',
  'resourceclaims.resource.k8s.io get - - -,default - No Object name found',
  'resourceclaims.resource.k8s.io get -,OWN,other status -,default - cannot get subresource',
  "resourceclaims.resource.k8s.io get OWN,other - -,default - no relationship found between node 'OWN' and this object",
  'resourceclaims.resource.k8s.io create,delete,deletecollection,list,patch,update,watch -,OWN,other -,status -,default - can only get individual resources of this type',
  'resourceslices.resource.k8s.io delete,get,patch,update - - -,default -,own No Object name found',
  'resourceslices.resource.k8s.io create,delete,deletecollection,get,list,patch,update,watch -,OWN,other status -,default -,own cannot authorize ResourceSlice subresources',
  "resourceslices.resource.k8s.io delete,get,patch,update OWN,other - -,default -,own no relationship found between node 'OWN' and this object",
  'resourceslices.resource.k8s.io deletecollection,list,watch -,OWN,other - -,default - can only list/watch/deletecollection resourceslices with nodeName field selector',
  'resourceslices.resource.k8s.io create -,OWN,other - -,default -,own allowed',
  'resourceslices.resource.k8s.io deletecollection,list,watch -,OWN,other - -,default own allowed',
  'serviceaccounts. get - - default - No Object name found',
  'serviceaccounts. get -,OWN,other - - - can only read namespaced object of this type',
  'serviceaccounts. create - -,status,token -,default - can only create tokens for individual service accounts',
  'serviceaccounts. delete,deletecollection,list,patch,update,watch -,OWN,other -,status,token -,default - can only create tokens for individual service accounts',
  'serviceaccounts. get -,OWN,other status,token -,default - can only create tokens for individual service accounts',
  "serviceaccounts. create OWN,other token -,default - no relationship found between node 'OWN' and this object",
  "serviceaccounts. get OWN,other - default - no relationship found between node 'OWN' and this object",
  'serviceaccounts. create OWN,other -,status -,default - can only create token subresource of serviceaccount',
  'volumeattachments.storage.k8s.io get - - -,default - No Object name found',
  'volumeattachments.storage.k8s.io get -,OWN,other status -,default - cannot get subresource',
  "volumeattachments.storage.k8s.io get OWN,other - -,default - no relationship found between node 'OWN' and this object",
  'volumeattachments.storage.k8s.io create,delete,deletecollection,list,patch,update,watch -,OWN,other -,status -,default - can only get individual resources of this type',
  'leases.coordination.k8s.io create,delete,get,patch,update -,OWN,other -,status -,default - can only access leases in the "kube-node-lease" system namespace',
  'leases.coordination.k8s.io delete,get,patch,update -,other -,status kube-node-lease - can only access node lease with the same name as the requesting node',
  'leases.coordination.k8s.io create -,OWN,other -,status kube-node-lease - allowed',
  'leases.coordination.k8s.io delete,get,patch,update OWN -,status kube-node-lease - allowed',
  'leases.coordination.k8s.io deletecollection,list,watch -,OWN,other -,status -,default,kube-node-lease - can only get, create, update, patch, or delete a node lease',
  'csinodes.storage.k8s.io delete,get,patch,update -,other - -,default - can only access CSINode with the same name as the requesting node',
  'csinodes.storage.k8s.io create,delete,get,patch,update -,OWN,other status -,default - cannot authorize CSINode subresources',
  'csinodes.storage.k8s.io create -,OWN,other - -,default - allowed',
  'csinodes.storage.k8s.io delete,get,patch,update OWN - -,default - allowed',
  'csinodes.storage.k8s.io deletecollection,list,watch -,OWN,other -,status -,default - can only get, create, update, patch, or delete a CSINode',
  "nodes. get,list,watch - - -,default -,own node 'OWN' cannot read all nodes, only its own Node object",
  'nodes. create,get,list,watch -,OWN,other proxy,status -,default -,own -',
  'nodes. delete,deletecollection -,OWN,other -,proxy,status -,default -,own -',
  'nodes. patch,update -,OWN,other proxy -,default -,own -',
  "nodes. get,list,watch other - -,default -,own node 'OWN' cannot read 'other', only its own Node object",
  'nodes. create -,OWN,other - -,default -,own allowed',
  'nodes. get,list,watch OWN - -,default -,own allowed',
  'nodes. patch,update -,OWN,other -,status -,default -,own allowed',
  'pods. get - - -,default -,own No Object name found',
  'pods. create -,OWN,other status -,default -,own -',
  'pods. delete,get,list,watch -,OWN,other eviction,status -,default -,own -',
  'pods. deletecollection -,OWN,other -,eviction,status -,default -,own -',
  'pods. patch,update -,OWN,other -,eviction -,default -,own -',
  "pods. get OWN,other - -,default -,own no relationship found between node 'OWN' and this object",
  "pods. list,watch OWN,other - -,default - no relationship found between node 'OWN' and this object",
  'pods. list,watch - - -,default - can only list/watch pods with spec.nodeName field selector',
  'pods. create -,OWN,other -,eviction -,default -,own allowed',
  'pods. delete -,OWN,other - -,default -,own allowed',
  'pods. list,watch -,OWN,other - -,default own allowed',
  'pods. patch,update -,OWN,other status -,default -,own allowed',
  'services. get,list,watch -,OWN,other - -,default - allowed',
  'services. create,delete,deletecollection,patch,update -,OWN,other -,status -,default - -',
  'services. get,list,watch -,OWN,other status -,default - -',
  'events. create,patch,update -,OWN,other status -,default - -',
  'events. delete,deletecollection,get,list,watch -,OWN,other -,status -,default - -',
  'events. create,patch,update -,OWN,other - -,default - allowed',
  'csidrivers.storage.k8s.io get,list,watch -,OWN,other - -,default - allowed',
  'csidrivers.storage.k8s.io create,delete,deletecollection,patch,update -,OWN,other -,status -,default - -',
  'csidrivers.storage.k8s.io get,list,watch -,OWN,other status -,default - -',
  'runtimeclasses.node.k8s.io get,list,watch -,OWN,other - -,default - allowed',
  'runtimeclasses.node.k8s.io create,delete,deletecollection,patch,update -,OWN,other -,status -,default - -',
  'runtimeclasses.node.k8s.io get,list,watch -,OWN,other status -,default - -',
  'certificatesigningrequests.certificates.k8s.io create,get,list,watch -,OWN,other - -,default - allowed',
  'certificatesigningrequests.certificates.k8s.io create,get,list,watch -,OWN,other status -,default - -',
  'certificatesigningrequests.certificates.k8s.io delete,deletecollection,patch,update -,OWN,other -,status -,default - -',
  'clustertrustbundles.certificates.k8s.io create,delete,deletecollection,get,list,patch,update,watch -,OWN,other -,status -,default - -',
  'podcertificaterequests.certificates.k8s.io create,delete,deletecollection,get,list,patch,update,watch -,OWN,other -,status -,default -,own -',
  'tokenreviews.authentication.k8s.io create -,OWN,other status -,default - -',
  'tokenreviews.authentication.k8s.io delete,deletecollection,get,list,patch,update,watch -,OWN,other -,status -,default - -',
  'tokenreviews.authentication.k8s.io create -,OWN,other - -,default - allowed',
  'deployments.apps create,delete,deletecollection,get,list,patch,update,watch -,OWN,other -,status -,default - -',
  'endpoints. get -,OWN,other - -,default - allowed',
  'endpoints. create,delete,deletecollection,list,patch,update,watch -,OWN,other -,status -,default - -',
  'endpoints. get -,OWN,other status -,default - -',
  'namespaces. create,delete,deletecollection,get,list,patch,update,watch -,OWN,other -,status -,default - -',
]

const list = (text: string): readonly string[] =>
  text.split(',').map((each) => (each === '-' ? '' : each))

function* requestsOf(line: string): Generator<readonly [RequestAttributes, string]> {
  const [target = '', verbs, names, subresources, namespaces, selections, ...verdict] =
    line.split(' ')
  const [resource = '', ...group] = target.split('.')
  for (const verb of list(verbs!))
    for (const name of list(names!))
      for (const subresource of list(subresources!))
        for (const namespace of list(namespaces!))
          for (const selection of list(selections!)) {
            const fieldSelector = selection === 'own' ? 'spec.nodeName=OWN' : undefined
            const of = {
              group: group.join('.'),
              version: '*',
              resource,
              subresource,
              namespace,
              name,
            }
            const rest = { verb, user, isResourceRequest: true, path: '', ...of }
            yield [
              {
                ...rest,
                ...(fieldSelector === undefined ? {} : { fieldSelector }),
              } as RequestAttributes,
              verdict.join(' '),
            ]
          }
}

test('what a node may do without pods, and why it may not, as recorded', () => {
  const authorizer = new NodeAuthorizer(
    createMemoryStore(new VirtualClock({ settle: () => Promise.resolve() })),
  )
  let asked = 0
  for (const line of RECORDED)
    for (const [request, expected] of requestsOf(line)) {
      const { allowed, reason } = authorizer.authorize(request)
      assert.equal(allowed ? 'allowed' : reason || '-', expected, JSON.stringify(request))
      asked++
    }
  assert.equal(asked, 2880)
})
