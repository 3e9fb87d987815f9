package main

import (
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	jsonserializer "k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/apimachinery/pkg/types"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/kubernetes/scheme"
	corev1defaults "k8s.io/kubernetes/pkg/apis/core/v1"
	resourcev1defaults "k8s.io/kubernetes/pkg/apis/resource/v1"
	storagev1defaults "k8s.io/kubernetes/pkg/apis/storage/v1"
)

var decoder = newDecoder()

// api decodes as a client does and fills in what the API server would: objects read from one stay as they are.
type api struct {
	*runtime.Scheme
	*jsonserializer.Serializer
}

func newDecoder() api {
	known := runtime.NewScheme()
	utilruntime.Must(scheme.AddToScheme(known))
	utilruntime.Must(corev1defaults.RegisterDefaults(known))
	utilruntime.Must(storagev1defaults.RegisterDefaults(known))
	utilruntime.Must(resourcev1defaults.RegisterDefaults(known))
	meta := jsonserializer.DefaultMetaFactory
	return api{known, jsonserializer.NewSerializerWithOptions(meta, known, known, jsonserializer.SerializerOptions{})}
}

// Cluster holds the objects of a document, in the order of the document.
type Cluster struct {
	objects []runtime.Object
	pending []*corev1.Pod
}

// decode leaves out kinds that Kubernetes does not know: kube-scheduler does not know them either.
func decode(items []json.RawMessage) (*Cluster, error) {
	cluster, seen := &Cluster{}, map[string]bool{}
	for index, item := range items {
		object, kind, err := decoder.Decode(item, nil, nil)
		if runtime.IsNotRegisteredError(err) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("item %d (%s): %w", index, name(item), err)
		}
		decoder.Default(object)
		key, err := identify(object, kind.Kind)
		if err != nil {
			return nil, fmt.Errorf("item %d: %w", index, err)
		}
		if seen[key] {
			return nil, fmt.Errorf("item %d: %s is there twice", index, key)
		}
		seen[key] = true
		cluster.take(object)
	}
	return cluster, nil
}

// take keeps what kube-scheduler's informers would show it: pods that have ended are none of it.
func (c *Cluster) take(object runtime.Object) {
	pod, isPod := object.(*corev1.Pod)
	if isPod && (pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed) {
		return
	}
	c.objects = append(c.objects, object)
	if isPod && pod.Spec.NodeName == "" {
		// Only pods of its own are queued, and only queued pods count as nominated.
		pod.Spec.SchedulerName = corev1.DefaultSchedulerName
		if pod.DeletionTimestamp == nil {
			c.pending = append(c.pending, pod)
		}
	}
}

// identify gives an object what every stored object has: a UID, by which pods are told apart, and a version.
func identify(object runtime.Object, kind string) (string, error) {
	accessor, err := meta.Accessor(object)
	if err != nil {
		return "", err
	}
	key := kind + " " + accessor.GetNamespace() + "/" + accessor.GetName()
	if accessor.GetName() == "" {
		return "", fmt.Errorf("a %s without a name", kind)
	}
	if accessor.GetUID() == "" {
		accessor.SetUID(types.UID(key))
	}
	if accessor.GetResourceVersion() == "" {
		accessor.SetResourceVersion("1")
	}
	return key, nil
}

// name is for the sentence about an object that cannot be decoded.
func name(item json.RawMessage) string {
	var object metav1.PartialObjectMetadata
	if json.Unmarshal(item, &object) != nil {
		return "no object"
	}
	return object.Kind + " " + object.Namespace + "/" + object.Name
}
