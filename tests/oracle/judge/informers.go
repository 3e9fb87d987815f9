package main

import (
	"fmt"
	"reflect"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/informers/apps"
	"k8s.io/client-go/informers/core"
	"k8s.io/client-go/informers/internalinterfaces"
	"k8s.io/client-go/informers/policy"
	"k8s.io/client-go/informers/resource"
	"k8s.io/client-go/informers/scheduling"
	"k8s.io/client-go/informers/storage"
	"k8s.io/client-go/tools/cache"
)

// factory hands out informers that are filled by hand: no watch, no goroutine, and whoever registered a handler
// has been told by the time that an object is in the store. The groups that it does not name come from the real
// factory and stay empty.
type factory struct {
	informers.SharedInformerFactory
	byType map[reflect.Type]*informer
}

func newFactory() *factory {
	return &factory{
		SharedInformerFactory: informers.NewSharedInformerFactory(nil, 0),
		byType:                map[reflect.Type]*informer{},
	}
}

func (f *factory) InformerFor(kind runtime.Object, _ internalinterfaces.NewInformerFunc) cache.SharedIndexInformer {
	return f.of(kind)
}

func (f *factory) of(kind runtime.Object) *informer {
	key := reflect.TypeOf(kind)
	if f.byType[key] == nil {
		byNamespace := cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}
		f.byType[key] = &informer{indexer: cache.NewIndexer(cache.MetaNamespaceKeyFunc, byNamespace)}
	}
	return f.byType[key]
}

func (f *factory) Apps() apps.Interface             { return apps.New(f, "", nil) }
func (f *factory) Core() core.Interface             { return core.New(f, "", nil) }
func (f *factory) Policy() policy.Interface         { return policy.New(f, "", nil) }
func (f *factory) Resource() resource.Interface     { return resource.New(f, "", nil) }
func (f *factory) Scheduling() scheduling.Interface { return scheduling.New(f, "", nil) }
func (f *factory) Storage() storage.Interface       { return storage.New(f, "", nil) }

func (f *factory) ForResource(kind schema.GroupVersionResource) (informers.GenericInformer, error) {
	return nil, fmt.Errorf("no informer for %v: the judge knows kinds by their Go types", kind)
}

// informer is a store with handlers that are called at once. What it does not override is never called.
type informer struct {
	cache.SharedIndexInformer
	indexer  cache.Indexer
	handlers []cache.ResourceEventHandler
}

func (i *informer) add(object runtime.Object) error {
	if err := i.indexer.Add(object); err != nil {
		return err
	}
	for _, handler := range i.handlers {
		handler.OnAdd(object, false)
	}
	return nil
}

func (i *informer) remove(object runtime.Object) error {
	if err := i.indexer.Delete(object); err != nil {
		return err
	}
	for _, handler := range i.handlers {
		handler.OnDelete(object)
	}
	return nil
}

func (i *informer) AddEventHandler(handler cache.ResourceEventHandler) (cache.ResourceEventHandlerRegistration, error) {
	i.handlers = append(i.handlers, handler)
	return registration{}, nil
}

func (i *informer) AddEventHandlerWithResyncPeriod(
	handler cache.ResourceEventHandler, _ time.Duration,
) (cache.ResourceEventHandlerRegistration, error) {
	return i.AddEventHandler(handler)
}

func (i *informer) AddEventHandlerWithOptions(
	handler cache.ResourceEventHandler, _ cache.HandlerOptions,
) (cache.ResourceEventHandlerRegistration, error) {
	return i.AddEventHandler(handler)
}

// AddIndexers leaves out indexers that are there already: every plugin asks for the one by namespace.
func (i *informer) AddIndexers(wanted cache.Indexers) error {
	missing := cache.Indexers{}
	for name, index := range wanted {
		if i.indexer.GetIndexers()[name] == nil {
			missing[name] = index
		}
	}
	return i.indexer.AddIndexers(missing)
}

func (i *informer) GetIndexer() cache.Indexer              { return i.indexer }
func (i *informer) GetStore() cache.Store                  { return i.indexer }
func (i *informer) HasSynced() bool                        { return true }
func (i *informer) HasSyncedChecker() cache.DoneChecker    { return registration{} }
func (i *informer) SetTransform(cache.TransformFunc) error { return nil }

// registration is one whose handler has always seen everything.
type registration struct{}

func (registration) HasSynced() bool                     { return true }
func (registration) HasSyncedChecker() cache.DoneChecker { return registration{} }
func (registration) Name() string                        { return "judge" }

func (registration) Done() <-chan struct{} {
	done := make(chan struct{})
	close(done)
	return done
}
