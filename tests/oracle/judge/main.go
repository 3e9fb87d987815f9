// The judge answers what kube-scheduler's own code makes of clusters: a JSON document per line in, a line out.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/klog/v2"
)

func main() {
	silence()
	if err := answerAll(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "judge:", err)
		os.Exit(1)
	}
}

// silence drops the log, which would tell every refusal twice, and the pause after every logged error.
func silence() {
	klog.LogToStderr(false)
	klog.SetOutput(io.Discard)
	utilruntime.ErrorHandlers = nil
}

func answerAll(input io.Reader, output io.Writer) error {
	reader, writer := bufio.NewReaderSize(input, 1<<20), bufio.NewWriterSize(output, 1<<20)
	bench := &bench{}
	for {
		line, err := reader.ReadBytes('\n')
		if line = bytes.TrimSpace(line); len(line) > 0 {
			if err := json.NewEncoder(writer).Encode(bench.answer(line)); err != nil {
				return err
			}
			if err := writer.Flush(); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// bench keeps one world for all documents; only one that failed is replaced.
type bench struct{ world *world }

func (b *bench) answer(line []byte) (answer Answer) {
	var document Document
	if err := json.Unmarshal(line, &document); err != nil {
		return Answer{Error: "not a document: " + err.Error()}
	}
	answer.ID = document.ID
	defer func() {
		if failure := recover(); failure != nil {
			b.discard()
			answer = Answer{ID: document.ID, Error: fmt.Sprintf("%v\n%s", failure, debug.Stack())}
		}
	}()
	pods, err := b.judge(&document)
	if err != nil {
		return Answer{ID: document.ID, Error: err.Error()}
	}
	answer.Pods = pods
	return answer
}

func (b *bench) judge(document *Document) ([]Verdict, error) {
	cluster, err := decode(document.Items)
	if err != nil {
		return nil, err
	}
	if b.world == nil {
		if b.world, err = newWorld(); err != nil {
			return nil, err
		}
	}
	if err := b.world.show(cluster); err != nil {
		b.discard()
		return nil, err
	}
	return b.world.judge(cluster, document)
}

func (b *bench) discard() {
	if b.world != nil {
		b.world.stop()
		b.world = nil
	}
}
